/** The script of the pages, as text. */
declare const text: string;
export default text;
