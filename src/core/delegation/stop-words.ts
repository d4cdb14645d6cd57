/** 300 English words of six letters and more that stand in any text, and so tell none from another. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `
according account achieve across action actual actually adding addition additional against allowed allows almost
already although always amount another answer anyone anything appear appears applied applies approach around attempt
available became because become becomes before beginning behind besides better between beyond called cannot certain
certainly change changed changes changing clearly common complete completely condition consider considered contain
contained containing contains content continue continued correct course create created creates current currently
decide decided define defined depend depends describe described describes description detail details difference
different difficult direct directly document documents during earlier easily either ending enough ensure entire
entirely especially everyone everything exactly example examples except existing expect expected explain explained
explains fairly figure finally finding follow followed following follows forward further future general generally
getting giving greater happen happened happens having higher however immediately important include included includes
including increase indeed indicate information inside instead intended interest involved itself keeping largely
larger latest leading length likely little longer looked looking mainly making matter meaning mentioned moment
moreover mostly nearly necessary needed neither nothing notice number numbers obtain obvious occurs original others
otherwise outside overall particular particularly perhaps period please possible possibly present previous
previously probably problem problems process proper properly provide provided provides purpose question questions
quickly rather reading really reason reasons receive received recent recently reference referred regarding related
relative remain remaining remains report reports require required requires result results return returned returns
running second section sections separate several should showing similar simple simply single slightly someone
something sometimes specific specified started starting starts stated states subject suggest summary support
supported supports system systems taking themselves therefore things thinking though thought through throughout
together toward towards trying turned typical typically unable understand unless update useful usually various
version wanted whatever whenever wherever whether within without working writing written yourself
`
    .trim()
    .split(/\s+/),
);
