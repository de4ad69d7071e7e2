import { modelFromConfig, type NamedModel } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { agreed, type Scope } from './named.ts';
import type { DocumentSummary, FileSummary, ObjectSummary } from './summary.ts';
import { nameOf, type Workspace } from './workspace.ts';

/** A pseudo-kind for the shapes of models. */
export const modelConfigKind = 'ModelConfig';

/** Whether a file has the name of the file in which Transformers describes a model. It is indexed, but it never has GPU manifests. */
export function isModelConfig(name: string): boolean {
  return /(?:^|[\\/])config\.json$/.test(name);
}

/** Many programs name their settings so: a model's have these keys, and few lines. */
export function describesModel(text: string): boolean {
  return text.length <= maxCharacters && /"(?:num_hidden_layers|num_layers|n_layers?)"\s*:/.test(text);
}

const maxCharacters = 200_000;

/** The summary of a model's config: one object, which is named after its folder. */
export function summarizeModelConfig(name: string, text: string): FileSummary & DocumentSummary {
  const folder = folderNamed(name.replace(/[\\/][^\\/]*$/, ''));
  const model = describesModel(text) ? modelFromConfig(folder ?? '', text) : undefined;
  if (folder === undefined || model === undefined) return { kinds: new Set(), objects: () => [], references: () => [] };
  const facts = { type: 'model', facts: model } as const;
  const object: ObjectSummary = {
    group: '',
    kind: modelConfigKind,
    namespace: null,
    name: folder,
    span: { start: 0, end: 0 },
    facts: () => facts,
  };
  return { kinds: new Set([modelConfigKind]), objects: () => [object], references: () => [] };
}

/** The model in the nearest folder that has the name of a model, or the end of its path; undefined if no folder matches, or if several differ. */
export function modelInFolder(scope: Scope, written: string): NamedModel | undefined {
  const folder = folderNamed(written);
  return folder === undefined
    ? undefined
    : agreed(scope, foldersNamed(scope.workspace, folder).nearest(scope), 'model')?.facts;
}

function foldersNamed(workspace: Workspace, folder: string) {
  return workspace.objects(modelConfigKind, nameOf, folder, folder);
}

/** The last part of a path, with the one above it if it names no model in particular; undefined if neither does. */
function folderNamed(path: string): string | undefined {
  const parts = path.split(/[\\/]/).filter((part) => part !== '' && part !== '.');
  const [last = '', above = ''] = [parts.at(-1), parts.at(-2)];
  if (!isGeneral(last)) return last === '' ? undefined : last;
  return above === '' || isGeneral(above) ? undefined : `${above}/${last}`;
}

/** Whether a folder may hold any model: `model`, `my-weights`, `checkpoint-500`, `v2`. */
function isGeneral(folder: string): boolean {
  const words = folder.toLowerCase().split(/[-_]/);
  return words.every((word) => generalWords.has(word.replace(/\d+$/, '')));
}

/** Words that name no model in particular; the empty one stands for a number. */
const generalWords: ReadonlySet<string> = new Set([
  ...wordSet('my base the hf local trained merged final latest best main v'),
  ...wordSet('model models weight weights checkpoint checkpoints ckpt ckpts output outputs artifact artifacts'),
  ...wordSet('data mnt config configs src app'),
  '',
]);
