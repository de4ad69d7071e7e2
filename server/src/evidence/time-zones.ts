import { wordSet } from '../catalog/word-patterns.ts';

/** Whether a time zone is in the IANA database, or a placeholder such as `TIMEZONE`; `Local` and offsets such as `UTC+8` are not. */
export function isTimeZone(zone: string): boolean {
  if (/^[A-Z]{6,}$|^Etc\/GMT[-+]\d+$|^GMT[-+]0$/.test(zone)) return true;
  return !/^local$|^[-+]|[-+]\d/i.test(zone) && isKnown(zone) && !abbreviations.has(zone);
}

/** Names that JavaScript knows and the IANA database does not. https://unicode.org/reports/tr35/#Time_Zone_Identifiers */
const abbreviations = wordSet(
  'ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST',
);

function isKnown(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
