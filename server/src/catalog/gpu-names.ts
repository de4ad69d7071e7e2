import { lazy, oncePerName } from '../yaml/lazy.ts';
import { table } from '../yaml/table.ts';
import { gpus, gpusByLabel } from './gpus.ts';
import type { GpuModel } from './types.ts';

// The name of a card in any spelling: `NVIDIA-A100-SXM4-80GB`, `a100_pcie`, `8xH100`, `GeForce RTX 3090 Ti`, `rtx3090ti`. A name consists of a
// core (`a100`, `rtx3090ti`), brands, which mean nothing here, and properties that select among the cards with that core: memory and form.

/**
 * The cards that a whole text names; several if it leaves the memory open, none if it says anything else.
 * @param bareNumbers whether `3090` may stand for RTX 3090
 */
export function gpusNamed(text: string, bareNumbers = false): readonly GpuModel[] {
  if (text.length > maxLength || !mayNameCard(text)) return none;
  const words = wordsOf(text);
  const found = words.flatMap((_, start) => nameAt(words, start, bareNumbers) ?? []).sort(byLength)[0];
  if (found === undefined) return none;
  const rest = [...words.slice(0, found.start), ...words.slice(found.end)];
  const isTpu = found.models.every(({ vendor }) => vendor === 'google');
  return rest.every((word) => saysLittle(word) || (isTpu && /^\d+(?:x\d+)*$/.test(word))) ? found.models : none;
}

/** The cards that a text mentions among other words: `gpu-h100-pool`, `llama-70b-a100-80gb`. */
export const gpusMentioned = oncePerName((text): readonly GpuModel[] => {
  if (text.length > maxLength || !mayNameCard(text)) return none;
  const words = wordsOf(text);
  const models = new Set<GpuModel>();
  for (let start = 0; start < words.length; start += 1) {
    const afterBrand = brands.has(words[start - 1] ?? '');
    const found = nameAt(words, start, afterBrand);
    if (found === undefined || (isOrdinary(found.core) && !afterBrand)) continue;
    for (const model of found.models) models.add(model);
    start = found.end - 1;
  }
  return [...models];
});

/** The cards that a value of a node label names: as the catalog has it or, for a value that it lacks, in any spelling. */
export function gpusInLabel(key: string, value: string): readonly GpuModel[] {
  const exact = gpusByLabel(key, value);
  return exact.length > 0 ? exact : gpusNamed(value);
}

/** Longer texts are not names. */
const maxLength = 200;
const none: readonly never[] = [];

/** Whether a text can name a card or a machine. Most cannot: they have no number, and none of the few names without one. */
export function mayNameGpu(text: string): boolean {
  return /\d/.test(text) || hasPlainName(text);
}

/** Whether a text can name a card: it has a number of a card's name, which is never written in parts, or a name without one. */
function mayNameCard(text: string): boolean {
  return text.match(/\d+/g)?.some((number) => coreNumbers().has(number)) === true || hasPlainName(text);
}

function hasPlainName(text: string): boolean {
  // The words of a name may be separated.
  const letters = text.toLowerCase().replace(/[^a-z]+/g, '');
  return plainName().test(letters);
}

// DGX Spark stands for GB10.
const plainName = lazy(() => new RegExp(['spark', ...(allCores().match(/^[a-z]+$/gm) ?? [])].join('|')));

const coreNumbers = lazy(() => new Set(allCores().match(/\d+/g)));

interface Found {
  readonly core: string;
  readonly start: number;
  readonly end: number;
  readonly models: readonly GpuModel[];
}

function byLength(one: Found, other: Found): number {
  return other.core.length - one.core.length;
}

/** Cores that are also ordinary words: families of machines, sizes, levels of caches. */
function isOrdinary(core: string): boolean {
  return /^(?:a2|p4|l2|t400|t600|t1000|k20|k40|m40|gaudi|inferentia|trainium)$/.test(core);
}

/** Cores that are mostly other things: they name a card only next to NVIDIA's names. */
const needsBrand: ReadonlySet<string> = new Set(['k1', 'k2', 'k10', 'm4', 'm6', 'p6', 't10']);

const mark = '-';

/** Lowercase words, with those separated that are often written together. */
function wordsOf(text: string): readonly string[] {
  return split(separated(text));
}

function split(text: string): readonly string[] {
  return text.match(/[a-z0-9]+/g) ?? [];
}

/** Spells each line on its own: no pattern goes beyond the end of one. */
function separated(text: string): string {
  return text
    .toLowerCase()
    .replace(/(?:\b|-mig-|_)(?:\d+c\.)?\d+g\.\d+gb[a-z.+-]*/g, ' ')
    .replace(/\((?:r|tm)\)/g, ' ')
    .replace(/max-q/g, 'maxq')
    .replace(/dgx[-_ ]?spark/g, 'gb10')
    .replace(/(?<![a-z\d])(?:rtx[-_ ]?)?(\d{4})[-_ ]?ada(?=x?\d|[^a-z]|$)/g, `rtx${mark}$1${mark}ada${mark}`)
    .replace(/(\d)x(?=[a-z]{1,5}\d)/g, `$1x${mark}`)
    .replace(/([a-z]\d{1,3}[a-z]?)x(?=\d{1,2}\b)/g, `$1${mark}x`)
    .replace(/(nvidia|geforce|tesla|quadro|radeon|instinct|gpu|dgx|hgx)(?=[a-z]{0,20}\d)/g, `$1${mark}`)
    .replace(/([a-z]\d{1,3}[a-z]?)(?=(?:pool|np|nodes?|gpus?|spot)\b)/g, `$1${mark}`)
    .replace(/(pool|node|spot)(?=[a-z]\d{2,3}[a-z]?\b)/g, `$1${mark}`)
    .replace(/(\d[a-z]?)(?=(?:sxm\d?|pcie|nvlink|nvl|hbm\d?e?|oam)\b)/g, `$1${mark}`);
}

/** Words that say nothing about the model. */
const brands: ReadonlySet<string> = new Set(
  'nvidia amd intel google aws habana huawei tesla geforce grid dgx hgx instinct radeon gpu gpus card shared vws edition generation gen core tensor blackwell hopper ampere lovelace turing volta pascal nvswitch mega corporation graphics'.split(
    ' ',
  ),
);

function isProperty(word: string): boolean {
  return formOf(word) !== undefined || memoryIn(word) !== undefined || isIgnored(word);
}

/** Details that no card in the catalog differs in, chips, virtual cards and counts: `hbm3`, `nvl72`, `ga102gl`, `16q`, `8x`. */
function isIgnored(word: string): boolean {
  return /^(?:(?:gk|gm|gp|gv|tu|ga|ad)(?:\d{3}gl|\d\d[1-9])|g?ddr\d\w?|hbm\d?e?|nvl\d+|ac|oam|maxq|x\d{1,2}|\d{1,2}[xabcq])$/.test(
    word,
  );
}

type Form = 'sxm' | 'pcie' | 'nvl' | 'quadro' | 'ada' | 'server' | 'workstation';

function formOf(word: string): Form | undefined {
  return forms[word];
}

const forms = table<Form>({
  sxm: 'sxm',
  sxm2: 'sxm',
  sxm3: 'sxm',
  sxm4: 'sxm',
  sxm5: 'sxm',
  sxm6: 'sxm',
  nvlink: 'sxm',
  pcie: 'pcie',
  pci: 'pcie',
  nvl: 'nvl',
  quadro: 'quadro',
  ada: 'ada',
  server: 'server',
  workstation: 'workstation',
});

/** The most usual first: a name without a form means it. */
const usualForms: readonly (Form | undefined)[] = [
  'sxm',
  undefined,
  'server',
  'quadro',
  'ada',
  'workstation',
  'pcie',
  'nvl',
];

/** GB; numbers without a unit may mean anything else. */
function memoryIn(word: string): number | undefined {
  // HBM3e is on the H20 with 141 GB only.
  if (word === '3e') return 141;
  const digits = /^(\d{1,3})(?:gi?b?)$/.exec(word)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The longest name that begins at a word. */
function nameAt(words: readonly string[], start: number, bareNumbers: boolean): Found | undefined {
  const first = words[start] ?? '';
  if (saysLittle(first) && first !== 'quadro') return undefined;
  let core = '';
  let found: { readonly core: string; readonly end: number } | undefined;
  for (let end = start; end < words.length && core.length < longestCore; end += 1) {
    const word = words[end] ?? '';
    if (saysLittle(word)) continue;
    // `a10-0` is not an A100.
    if (/\d$/.test(core) && /^\d/.test(word)) break;
    core += word;
    if (!allCores().includes(`\n${core}`)) break;
    if (needsBrand.has(core) && !/^(?:nvidia|tesla|grid)$/.test(words[start - 1] ?? '')) continue;
    if (cores().has(core) || (bareNumbers && numbers().has(core))) found = { core, end: end + 1 };
  }
  if (found === undefined) return undefined;
  // An integrated GPU without its brand is an amount: 780M, 8060S.
  const isNamed = /^(?:amd|radeon|ryzen)$/.test(words[start - 1] ?? '') || words[found.end] === 'igpu';
  if (/^\d+[ms]$/.test(found.core) && !isNamed) return undefined;
  let { end } = found;
  while (end < words.length && saysLittle(words[end] ?? '')) end += 1;
  const cards = cores().get(found.core) ?? numbers().get(found.core) ?? [];
  const properties = [words[start - 1] ?? '', ...words.slice(start, end)];
  const next = Number(words[end] ?? '');
  // `v100-32`: a number that is the memory of one of the cards, but not of all.
  const bare = cards.some(({ memory }) => memory === next) && cards.some(({ memory }) => memory !== next);
  const models = chosen(cards, properties, bare ? next : undefined);
  return models.length === 0 ? undefined : { core: found.core, start, end: bare ? end + 1 : end, models };
}

const longestCore = 30;

/** All cores, each on a line: a search in one text needs no index, and most words begin none of them. */
const allCores = lazy(() => ['', ...cores().keys(), ...numbers().keys()].join('\n'));

/** A card, with the properties in its name. */
interface Card {
  readonly model: GpuModel;
  readonly memory: number | null;
  readonly form: Form | undefined;
  /** The core means this card only together with its form: `A6000 Ada` is an RTX 6000 Ada. */
  readonly needsForm?: true;
}

/** The cards with the written properties. Memory is compared loosely, because it is rounded and counted in different units. */
function chosen(cards: readonly Card[], words: readonly string[], bareMemory: number | undefined): readonly GpuModel[] {
  const written = bareMemory ?? words.map(memoryIn).find((known) => known !== undefined);
  const off = ({ memory: own }: Card) => (own === null || written === undefined ? 0 : Math.abs(own - written) / own);
  const nearest = Math.min(...cards.map(off));
  // Other figures are the memory of the node (`t4-32gb`) or of a superchip's CPU (`GH200-480GB`).
  const memory = nearest > 0.15 ? undefined : written;
  const fitting = memory === undefined ? cards : cards.filter((card) => off(card) === nearest);
  const writtenForms = words.flatMap((word) => formOf(word) ?? []);
  const ofForm = fitting.filter(({ form }) => form !== undefined && writtenForms.includes(form));
  const left = ofForm.length > 0 ? ofForm : fitting.filter(({ needsForm }) => needsForm !== true);
  const rank = ({ form }: Card) => usualForms.indexOf(form);
  const usual = left.filter(
    (card) => !left.some((other) => rank(other) < rank(card) && (other.memory === card.memory || card.form === 'nvl')),
  );
  const preferred = usual.find(({ model }) => memory === undefined && usualMemory.has(model.id));
  return (preferred === undefined ? usual : [preferred]).map(({ model }) => model);
}

/** Where one size of memory is so much more common that a name without it means this one. */
const usualMemory: ReadonlySet<string> = new Set(['gh200-96gb', 'h20-96gb']);

const cores = lazy(() => {
  const index = new Map<string, Card[]>();
  const add = (name: string, card: Card) => {
    const known = index.get(name);
    if (known === undefined) index.set(name, [card]);
    else known.push(card);
  };
  // All names are read at once, which takes a tenth of the time when the first file opens.
  const lines = separated(Array.from(gpus.values(), ({ name }) => name).join('\n')).split('\n');
  let place = 0;
  for (const model of gpus.values()) {
    let core = '';
    let form: Form | undefined;
    for (const word of split(lines[place++] ?? '')) {
      form ??= formOf(word);
      if (!saysLittle(word)) core += word;
    }
    const card = { model, memory: model.memoryGiB, form };
    add(core, card);
    for (const name of otherNames(core)) add(name, card);
    const number = form === 'ada' ? /^rtx(\d{4})$/.exec(core)?.[1] : undefined;
    if (number !== undefined)
      for (const name of [`a${number}`, `rtxa${number}`]) add(name, { ...card, needsForm: true });
  }
  return index;
});

/** A brand or a property; the names of all cards have the same few. */
const saysLittle = oncePerName((word) => brands.has(word) || isProperty(word));

/** Other spellings of a core. */
function otherNames(core: string): readonly string[] {
  const known = aliases[core];
  if (known !== undefined) return known;
  const short = shortened.exec(core)?.slice(1).filter(Boolean) ?? none;
  const family = /^jetson(?:agx)?(orin|xavier|thor|)/.exec(core)?.[1];
  return family === undefined ? short : [...short, ...new Set(['jetson', `jetson${family}`])];
}

/** RTX A5000, Arc A770, Jetson AGX Orin, Data Center GPU Max 1550, Radeon Pro V710. */
const shortened =
  /^(?:rtx(a\d{4})|arc(?:pro)?([ab]\d{2,3})|jetson(agx\w+|orin\w+|xavier\w+|tx2)|datacenter((?:max|flex)\d+)|(?:ai)?pro([vwr]\d{3,4}))$/;

const aliases = table<readonly string[]>({
  mi300x: ['mi300'],
  mi355x: ['mi355'],
  mi325x: ['mi325'],
  mi350x: ['mi350'],
  titanrtx: ['rtxtitan'],
  tpuv5e: ['v5e', 'v5litepod', 'v5lite', 'tpuv5lite', 'tpuv5litepod', 'tpuv5litepodslice', 'tpuv5litedevice', 'ct5lp'],
  tpuv5p: ['v5p', 'tpuv5pslice', 'ct5p'],
  tpuv6e: ['v6e', 'tpuv6', 'tpuv6eslice', 'trillium', 'ct6e'],
  tpuv7x: ['tpu7x', 'tpu7', 'tpuv7', 'v7x', 'ironwood'],
  tpuv4: ['tpuv4podslice', 'ct4p'],
  tpuv3: ['tpuv3device', 'tpuv3slice', 'ct3', 'ct3p'],
  trainium1: ['trainium', 'trn1', 'trn1n'],
  trainium2: ['trn2', 'trn2u'],
  inferentia1: ['inferentia', 'inf1'],
  inferentia2: ['inf2'],
  gaudi1: ['gaudi'],
  gaudi2: ['gaudi', 'hl225'],
  gaudi3: ['gaudi', 'hl325'],
  ascend910: ['ascend910a'],
  ascend910b: ['ascend910b1', 'ascend910b2', 'ascend910b3', 'ascend910b4'],
  k20: ['k20c', 'k20m'],
  k20x: ['k20xm'],
  k40: ['k40c', 'k40m'],
  qualcommai100: ['ai100', 'aic100'],
});

/** `3090ti` for RTX 3090 Ti. */
const numbers = lazy(() => {
  const index = new Map<string, readonly Card[]>();
  const listed = [...cores().keys()].join('\n');
  for (const [core, ...parts] of listed.matchAll(numbered)) {
    const number = parts.join('');
    if (!index.has(number)) index.set(number, cores().get(core) ?? none);
  }
  return index;
});

const numbered = /^(?:[rg]tx((?:10|16|[2-5]0)[5-9]0\w*)|rx(\d{4}xtx?)|ascend(\d{3}[a-z]))$/gm;
