// @ts-check
// Texts that grow in one respect, as an attacker or a broken generator could produce them. Each is the same in every run.
import { commands } from './scale-texts/commands.mjs';
import { objects } from './scale-texts/objects.mjs';
import { pods } from './scale-texts/pods.mjs';
import { suppressions } from './scale-texts/suppressions.mjs';
import { templates } from './scale-texts/templates.mjs';
import { yaml } from './scale-texts/yaml.mjs';

/** @typedef {import('./scale-texts/parts.mjs').Growing} Growing */

/** What an editor may ask of a text at once; longer texts have no budget. */
export const LONGEST = 1_000_000;

/**
 * @typedef {Growing & { ask: string }} Case
 * `ask` is what is measured: `open`, a request at the end of the text (`hover`), or `select`, `fixAll`: code actions over all of it
 */

/** Every text that was found to be slow once, and its relatives. @type {readonly Growing[]} */
export const texts = [...suppressions, ...commands, ...yaml, ...templates, ...pods, ...objects];

/** The inputs of the benchmark: a text and a request. @type {readonly (readonly [name: string, ask: string, most?: number])[]} */
const requests = [
  ['suppressions', 'open'],
  ['suppressions of the next line', 'open'],
  ['findings and suppressions in one pod', 'open'],
  ['tolerations', 'open'],
  ['suppressions of unknown rules', 'open'],
  ['tolerations', 'hover'],
  ['flags in one command', 'open'],
  ['flags in one command', 'hover'],
  ['flags that save', 'hover'],
  ['dashes', 'completion'],
  ['YAML errors', 'open'],
  ['YAML errors, documents', 'open'],
  ['missing anchors', 'open'],
  ['aliases', 'open'],
  ['anchors and aliases', 'open'],
  ['merge keys', 'open'],
  ['init containers', 'open'],
  ['containers to be fixed', 'select', 300],
  ['containers to be fixed', 'fixAll'],
  ['tolerations with a mistake', 'fixAll', 4000],
  ['commands of a script', 'hover'],
  ['MIG resources', 'inlayHint'],
  ['mounts and paths', 'open'],
  ['containers that mount', 'open'],
  ['small documents', 'open', 40_000],
  ['documents with claims', 'open'],
  ['markers in template comments', 'open'],
  ['items of a List', 'open'],
  ['empty lines', 'open'],
  ['keys', 'completion'],
  ['block scalars', 'completion'],
  ['actions', 'open'],
  ['JSON', 'open'],
  ['JSON', 'fixAll', 4000],
];

/** @type {readonly Case[]} */
export const cases = requests.map(([name, ask, most]) => {
  const text = texts.find((one) => one.name === name);
  if (text === undefined) throw new Error(`no text has many ${name}`);
  return { ...text, name: `${name}: ${ask}`, ask, most: most ?? text.most };
});
