// The terms of information of a candidate X, a conditioning variable W and the class Y.
#pragma once

namespace hocmim {

enum class Term {
    information,    // I(X;W)
    given_class,    // I(X;W|Y)
    redundancy,     // I(X;W) − I(X;W|Y)
    conditional,    // I(X;Y|W)
    joint,          // I(X,W;Y)
    joint_entropy,  // H(X,W,Y)
};

}  // namespace hocmim
