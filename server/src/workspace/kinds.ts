import { modelsInComment } from '../model/comment-models.ts';
import { namesAcceleratorResources } from '../model/concern.ts';
import { namedKinds } from '../model/kinds/index.ts';
import { platformKind } from '../model/kinds/pipeline-platform.ts';
import { stackPool } from '../model/stacks.ts';

/** The relevant kinds that occur anywhere in a text, found without parsing: a file without any is never parsed. */
export function kindsIn(text: string): ReadonlySet<string> {
  const written = valuesOf(text, 'kind');
  const kinds = new Set(written.filter((kind) => namedKinds.has(kind)));
  if (
    written.some((kind) => kind !== 'Secret' && /Secret|Certificate|OnePassword|^Bundle$/.test(kind)) ||
    /(?:reflec|replica)tion-allowed|replicate-to|hnc\.x-k8s|kubed\.|kyverno/.test(text)
  )
    kinds.add(secretMaker);
  // Pods that share a claim must find each other.
  if (text.includes(claimUse)) kinds.add(claimUse);
  if (/\b(?:timeSlicing|mps|devicePlugin):/.test(text)) kinds.add(sharingKind);
  if (/pod-group|group-name/.test(text) || writtenLabels.test(text)) kinds.add(gangKind);
  if (headerOf(text).length > 0) kinds.add(headerKind);
  if (text.includes('AWS::') && stackPool.test(text)) kinds.add('CloudFormationTemplate');
  if (/^platforms:/m.test(text)) kinds.add(platformKind);
  if (pulumiPool.test(text)) kinds.add('Project');
  if (includes.test(text)) kinds.add(kustomizationKind);
  if (text.includes('op') && operation.test(text) && namesAcceleratorResources(unescaped(text)))
    kinds.add(operationsKind);
  return kinds;
}

/** A template that writes labels of pods, or more: it may name a group. */
const writtenLabels = /\b(?:labels|metadata|spec|template):\s{0,200}\{\{/;

/** A pool in a project of Pulumi's YAML, whose files name no kind. */
const pulumiPool = /\btype:[ \t]{1,9}[\w:/-]{1,60}:(?:Node|Agent)(?:Group|Pool)\b/;

/** A pseudo-kind for objects of which operators make Secrets, or which they copy to other namespaces. */
export const secretMaker = 'SecretMaker';

/** A pseudo-kind for kustomizations, whose files need not name their kind. */
export const kustomizationKind = 'KustomizationFile';

const includes = /^(?:kind:[ \t]{1,9}(?:Kustomization|Component)\b|(?:resources|bases|components):\s*(?:\[|-\s))/m;

/** A pseudo-kind for JSON patches that name resources of accelerators. */
export const operationsKind = 'Operations';

const operation = /^[ \t]*(?:-[ \t]*)?["']?op["']?:/m;

/** A text with the slashes that a JSON pointer escapes. */
export function unescaped(text: string): string {
  return text.replaceAll('~1', '/');
}

/** A pseudo-kind for configs of the device plugin that share GPUs. */
export const sharingKind = 'DeviceSharing';

/** A pseudo-kind for pods that name a PodGroup. */
export const gangKind = 'GangMember';

/** A pseudo-kind for the comments of documents that run no pods. */
export const headerKind = 'FileHeader';

/**
 * The comments of a document that name cards, if it runs no pods and its fields follow them: then they are about those of the file. Comments behind the
 * last field may be about anything, and so may what looks like comments in blocks of text.
 */
export function headerOf(text: string): readonly string[] {
  if (!/^[ \t]*\uFEFF?#/m.test(text) || runsPods.test(text)) return [];
  const named: string[] = [];
  let count = 0;
  let block = Number.POSITIVE_INFINITY;
  for (const line of text.slice(0, 8_000).split('\n')) {
    const indent = line.search(/[^\s\uFEFF]/);
    if (indent < 0 || indent > block) continue;
    block = blockStart.test(line) ? indent : Number.POSITIVE_INFINITY;
    if (!line.startsWith('#', indent)) count = named.length;
    else if (modelsInComment(line.slice(indent)).length > 0) named.push(line.slice(indent));
  }
  return named.slice(0, count);
}

const runsPods = /^[^#\n\r\u2028\u2029]*(?:containers|predictor|model|workerGroupSpecs)["']?:/m;
const blockStart = /:\s+[|>][-+\d]{0,2}\s*(?:#.*)?$/;

/** A pseudo-kind for files that reference a ResourceClaim. */
export const claimUse = 'resourceClaimName';

/** The names of the objects in a text, and the names that they reference; undefined if only a parser can find them all. */
export function namesIn(text: string): ReadonlySet<string> | undefined {
  // `deployment` is the former key of what an HTTPScaledObject scales.
  const keys = ['name', 'deployment', claimUse];
  if (keys.some((key) => isIndirect(text, key))) return undefined;
  return new Set(keys.flatMap((key) => valuesOf(text, key)));
}

/** Whether a value is an alias, a block, escaped, or on the next line. */
function isIndirect(text: string, key: string): boolean {
  for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + key.length)) {
    indirect.lastIndex = at + key.length;
    if (indirect.test(text)) return true;
  }
  return false;
}

/** `indexOf` skips most of a long text faster than a regular expression. */
function valuesOf(text: string, key: string): readonly string[] {
  const values: string[] = [];
  for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + key.length)) {
    word.lastIndex = at + key.length;
    const found = word.exec(text)?.[1];
    if (found !== undefined) values.push(found);
  }
  return values;
}

/** An anchor or a tag can precede a value. */
const word = /["']?[ \t]*:[ \t]*(?:[&!][^\s,[\]{}]{0,200}[ \t]{1,99}){0,2}["']?([\w.-]{1,253})/y;
const indirect =
  /["']?[ \t]*:[ \t]*(?:[&!][^\s,[\]{}]{0,200}[ \t]{1,99}){0,2}(?:[*|>]|"[^"\n]{0,253}\\|(?:[&!]\S{0,200}[ \t]{0,99})?(?:#.*)?\r?\n[ \t]+["']?[\w.-]+["']?[ \t]*(?:\r?\n|$))/y;
