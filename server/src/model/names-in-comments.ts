import { gpusNamed, instanceType } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { isAboutDevices, modelsMentioned } from './named-models.ts';

// What a comment mentions without saying on what the pods run: names of files, images and models, and where something ran before.

/** A comment without the words that only look like its cards. A `_` replaces each letter of theirs, so that the others keep their places. */
export function withoutOtherCards(text: string): string {
  if (text.length > maxLength) return '';
  const own = text.replace(word, (found) => (isName(found) ? blank(found) : found));
  return own.replace(past, (clause) => {
    const start = clause.search(place);
    return start < 0 ? clause : clause.slice(0, start) + blank(clause.slice(start));
  });
}

/** The same for the line below another, in which a clause may go on: `# was trained on`, `# 8 x A100`. */
export function withoutOtherCardsBelow(above: string, text: string): string {
  const clause = above.length > maxLength ? undefined : above.match(past)?.at(-1);
  if (clause === undefined || modelsMentioned(clause).length > 0) return withoutOtherCards(text);
  return withoutOtherCards(`${above}\n${text}`).slice(above.length + 1);
}

/** Longer texts say too much to be about one card. */
const maxLength = 2_000;

function blank(text: string): string {
  return text.replace(/[a-z\d]/gi, '_');
}

/** What is said, up to the end of the clause, of something that is over: only its result is here. */
const past = new RegExp(
  String.raw`\b(?:pre|post|fine|re|un)?(?:${[
    'trained',
    'tuned',
    'distilled',
    'quantized',
    'calibrated',
    'benchmarked',
    'measured',
    'tested',
    'profiled',
    'evaluated',
    'validated',
    'verified',
  ].join('|')})\b(?:[^.;()]|\.(?=\S)|\([^()]*\))*`,
  'gi',
);
const place = /\b(?:on|with|using)\b/i;

const word = /[\w./:=?&#%@~+-]+/g;

/** Whether a word is a URL or a path, or names a file, an image or a model. A list of cards, a machine and a label are none of these. */
function isName(text: string): boolean {
  if (text.includes('://')) return true;
  const isKey = text.endsWith(':');
  const bare = text.replace(/^[#.:@+-]+|[.:?]+$/g, '');
  const equals = bare.indexOf('=');
  if (equals >= 0) return !isLabel(bare.slice(0, equals), bare.slice(equals + 1));
  if (isKey && label.test(bare)) return !isAboutDevices(bare);
  if (bare.includes('/')) return !isList(bare);
  return bare.split(':').some((part) => /\w\.\w/.test(part) && !isCard(part));
}

/** `gpu-type=h100-pool`, `pool=a100`, but not `model=org/chat-a100`. */
function isLabel(key: string, value: string): boolean {
  return isCard(key) || isList(value) || (isAboutDevices(key) && !value.includes('/'));
}

/** The key of a label with its prefix. */
const label = /^[\w-]+(?:\.[\w-]+)+\/[\w.-]+$/;

/** `A100/H100`, `RTX 4090/RTX 5090`, `8xH100/node`. */
function isList(text: string): boolean {
  return text.split('/').every((part) => part === '' || isCard(part) || isBesideCards(part));
}

/** Brands, amounts of memory, and what cards are counted in. */
function isBesideCards(part: string): boolean {
  return besideCards.has(part.toLowerCase()) || /^\d+(?:gi?b?)?$/i.test(part);
}

const besideCards = wordSet('rtx gtx geforce radeon quadro tesla', 'gpu card node pod machine server host');

function isCard(text: string): boolean {
  return gpusNamed(text, true).length > 0 || instanceType(text) !== undefined;
}
