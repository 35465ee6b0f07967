"""Workbooks written by hand, for tests."""

import datetime as dt
import zipfile

EPOCH = dt.datetime(1899, 12, 30)


def escaped(text):
    return str(text).replace("&", "&amp;")


def write_xlsx(path, sheets):
    """A workbook with these sheets, written by hand."""

    def cell(value):
        if value is None:
            return "<c/>"
        if isinstance(value, dt.datetime):
            return f'<c s="1"><v>{(value - EPOCH).days}</v></c>'
        if isinstance(value, (int, float)):
            return f"<c><v>{value}</v></c>"
        return f'<c t="inlineStr"><is><t>{escaped(value)}</t></is></c>'

    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    with zipfile.ZipFile(path, "w") as book:
        kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
        book.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="xml" '
            f'ContentType="{kinds}.sheet.main+xml"/></Types>',
        )
        book.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r" '
            f'Type="{relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        names = "".join(
            f'<sheet name="{escaped(name)}" sheetId="{i}" r:id="r{i}"/>'
            for i, name in enumerate(sheets, 1)
        )
        book.writestr(
            "xl/workbook.xml",
            f'<workbook {main} xmlns:r="{relations}"><sheets>{names}</sheets></workbook>',
        )
        links = "".join(
            f'<Relationship Id="r{i}" Type="{relations}/worksheet" Target="worksheets/s{i}.xml"/>'
            for i in range(1, len(sheets) + 1)
        )
        links += f'<Relationship Id="st" Type="{relations}/styles" Target="styles.xml"/>'
        book.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}/relationships">{links}</Relationships>',
        )
        book.writestr(
            "xl/styles.xml",
            f'<styleSheet {main}><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
            "</styleSheet>",
        )
        for i, rows in enumerate(sheets.values(), 1):
            body = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
            book.writestr(
                f"xl/worksheets/s{i}.xml",
                f"<worksheet {main}><sheetData>{body}</sheetData></worksheet>",
            )


def write_with_cell(path, place):
    """A workbook with a cell far away."""
    write_xlsx(path, {"s": [("a", "y"), (1, 2)]})
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    cell = f'<row><c r="{place}"><v>1</v></c></row></sheetData>'.encode()
    with zipfile.ZipFile(path, "w") as book:
        for name, content in parts.items():
            book.writestr(name, content.replace(b"</sheetData>", cell))
