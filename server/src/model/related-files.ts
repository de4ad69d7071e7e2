import type { YamlDocument, YamlMap, YamlNode } from '../yaml/node.ts';
import { checkLimits, parseDocument } from '../yaml/parse.ts';
import type { Span } from '../yaml/span.ts';
import { fillFromValues } from '../yaml/template-values.ts';
import { namesAccelerators } from './accelerators.ts';
import type { CrossReferences } from './cross-references.ts';
import { type BuiltObject, patched, withLastPatch } from './kustomize/build.ts';
import { isJsonPatch } from './kustomize/json-patch.ts';
import type { PatchTarget } from './kustomize/kustomization.ts';
import { external } from './kustomize/merge.ts';
import { lowerDocument } from './lower.ts';
import type { ModelOptions } from './options.ts';
import type { Workload } from './workload.ts';

/** The values of the chart that a template belongs to. */
export interface ChartValues {
  /** The name that people see: `values.yaml`. */
  readonly name: string;
  readonly root: YamlNode;
}

/** The objects that a kustomize patch is laid over, with all other patches of its kustomization. */
export interface PatchBase {
  readonly objects: readonly BuiltObject[];
  readonly target: PatchTarget | undefined;
}

/** What other files say of what this one leaves open. It stands for its values: what was read with it holds as long as it is the same object. */
export interface RelatedFiles {
  readonly chart?: ChartValues;
  readonly base?: PatchBase;
  /** Of a kustomization: the objects that it makes. */
  readonly built?: readonly BuiltObject[];
}

export const noRelatedFiles: RelatedFiles = {};

/** A chart's values, as their text says them; undefined where it cannot be read. */
export function chartValues(name: string, text: string): ChartValues | undefined {
  if (checkLimits(text) !== null) return undefined;
  const root = parseDocument(text, 0).root;
  return root?.kind === 'map' ? { name, root } : undefined;
}

/** Whether other files may have something to say of a document. */
export function hasRelatedFiles(text: string, { chart, base, built }: RelatedFiles): boolean {
  // A template may not say a word of the accelerators that its chart's values give it.
  return base !== undefined || built !== undefined || (chart !== undefined && text.includes('.Values'));
}

/**
 * The workloads of a document as they will be with what other files say, for what they cost; the same objects where the others change nothing.
 * What asks for accelerators only because of the others is found here alone. A workload that a chart's values turn off stays as it is written:
 * somebody looks at it because it may be turned on.
 */
export function withRelatedFiles(
  document: YamlDocument,
  workloads: readonly Workload[],
  relatedFiles: RelatedFiles,
  options: ModelOptions,
  crossReferences: CrossReferences,
): readonly Workload[] {
  const said = readings(document, relatedFiles).flatMap(({ root, readWith, places }) =>
    lowerDocument({ ...document, root }, options, crossReferences)
      .workloads.filter(asks)
      .filter((workload) => places === undefined || places.some(({ start }) => isIn(workload, start)))
      .map((workload) => ({ ...workload, readWith })),
  );
  if (said.length === 0) return workloads;
  const known = new Set(workloads.map(startOf));
  const byStart = new Map(said.map((workload) => [startOf(workload), workload]));
  const added = said.filter((workload) => !known.has(startOf(workload)));
  return [...workloads.map((workload) => byStart.get(startOf(workload)) ?? workload), ...added];
}

/** A document's tree with what another file says. */
interface Reading {
  readonly root: YamlNode;
  readonly readWith: string;
  /** Where the other file comes in; undefined: everywhere. */
  readonly places?: readonly Span[];
}

function readings(document: YamlDocument, { chart, base, built }: RelatedFiles): readonly Reading[] {
  const { root } = document;
  if (root === null) return [];
  if (built !== undefined) {
    return built.flatMap((object) => {
      const made = placed(external(object.root), root);
      return made === undefined ? [] : [{ root: made, readWith: object.file }];
    });
  }
  if (base !== undefined) {
    return patched(base.objects, root, base.target).flatMap((object) => {
      const made = placed(withLastPatch(object, root), root);
      return made === undefined ? [] : [{ root: made, readWith: `base ${object.file}` }];
    });
  }
  const filled = chart === undefined ? undefined : fillFromValues(document, chart.root);
  return filled === undefined || chart === undefined ? [] : [{ ...filled, readWith: chart.name }];
}

/** An object that stands for what is written here: it has the place of all of it, and its kind that of the first words. */
function placed(object: YamlNode, written: YamlNode): YamlMap | undefined {
  if (object.kind !== 'map') return undefined;
  const first = isJsonPatch(written) ? written.items[0]?.value : written;
  const [word] = first?.kind === 'map' ? first.entries : [];
  const own = written.kind === 'map' ? written.entries.find(({ key }) => key === 'kind') : undefined;
  const keySpan = (own ?? word)?.keySpan ?? written.span;
  return {
    ...object,
    span: written.span,
    entries: object.entries.map((entry) => (entry.key === 'kind' ? { ...entry, keySpan } : entry)),
  };
}

function isIn({ manifest }: Workload, offset: number): boolean {
  const { start, end } = manifest.root.node.span;
  return start <= offset && offset < end;
}

function startOf({ manifest }: Workload): number {
  return manifest.root.node.span.start;
}

function asks({ podSets }: Workload): boolean {
  return namesAccelerators({ podSets });
}
