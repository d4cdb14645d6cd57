/** The least that can be compared with `writ --version`: one line. */
console.log("writ 0.1.0");

export {};
