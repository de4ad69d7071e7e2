import { wordSet } from '../catalog/word-patterns.ts';
import type { Place } from './place.ts';

/**
 * Whether all places are in one folder, on a path that only leads to the nodes of the project to which the file belongs: `infra/karpenter/` next to
 * `apps/`. Examples stand alone: a pool of one says nothing about another.
 * @param more words that the names of such folders may also have
 */
export function isInNodesFolder(
  places: readonly Place[],
  { folders }: Place,
  more: ReadonlySet<string> = new Set(),
): boolean {
  const [first] = places;
  if (first === undefined || places.some((one) => one.folders.join('/') !== first.folders.join('/'))) return false;
  const common = first.folders.findIndex((folder, index) => folder !== folders[index]);
  const branch = first.folders[common];
  if (branch === undefined) return false;
  // `cluster-gcp` next to `cluster-aws` is another cluster.
  const sibling = wordsOf(folders[common] ?? '');
  if (wordsOf(branch).some((word) => nodeWords.has(word) && sibling.includes(word))) return false;
  // Folders above are also those of the user's computer.
  const own = folders.slice(Math.max(common - 1, 0));
  return isForNodes(branch, more) && !own.some((folder) => wordsOf(folder).some((word) => aloneWords.has(word)));
}

function isForNodes(folder: string, more: ReadonlySet<string>): boolean {
  const words = wordsOf(folder);
  const isWord = (word: string) => nodeWords.has(word) || more.has(word);
  return words.some(isWord) && words.every((word) => isWord(word) || nearWords.has(word));
}

function wordsOf(folder: string): readonly string[] {
  return folder
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '');
}

const nodeWords = wordSet(
  'karpenter eksctl nodepool nodepools nodegroup nodegroups node nodes pool pools provisioner provisioners',
  'terraform tf iac infra infrastructure cluster clusters platform bootstrap',
);

/** Words that may be next to these. */
const nearWords = wordSet(
  'gpu gpus k s kubernetes aws gcp azure eks gke aks live config configs manifests resources setup',
);

const aloneWords = wordSet(
  'example examples sample samples demo demos tutorial tutorials docs test tests recipes blueprints patterns',
);
