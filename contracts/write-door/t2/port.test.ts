import { test } from "bun:test";
import { parsePort } from "./port.ts";

type Row = { name: string; in: string; want?: number; wantErr?: boolean };

const rows: Row[] = [
  { name: "http", in: "80", want: 80 },
  { name: "high", in: "65535", want: 65535 },
  { name: "zero", in: "0", wantErr: true },
  { name: "text", in: "http", wantErr: true },
];

for (const row of rows) {
  test(row.name, () => {
    let got: number | undefined;
    let failed = false;
    try {
      got = parsePort(row.in);
    } catch {
      failed = true;
    }
    if (failed !== (row.wantErr === true)) {
      throw new Error(`${row.name}: parsePort("${row.in}") ${failed ? "failed" : `= ${got}`}, want ${row.wantErr ? "an error" : row.want}`);
    }
    if (!failed && got !== row.want) {
      throw new Error(`${row.name}: parsePort("${row.in}") = ${got}, want ${row.want}`);
    }
  });
}
