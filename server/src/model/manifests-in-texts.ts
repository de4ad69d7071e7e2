import { asText, type Cursor, getIn, keyOf, rootCursor } from '../yaml/cursor.ts';
import { documentsInBlock, documentsInScript, literalBlocks } from '../yaml/embedded.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { partialNode } from '../yaml/partial.ts';
import { isJsonPatch } from './kustomize/json-patch.ts';
import { targetOf } from './kustomize/kustomization.ts';
import { objectOfOperations } from './kustomize/object-of-operations.ts';
import { manifestsAt } from './manifest.ts';
import type { Manifest } from './workload.ts';

/**
 * The Kubernetes objects in the literal blocks of a document: manifests in ConfigMaps and in steps of workflows, and here-documents of scripts.
 * Their cursors have spans in the document. Something else creates these objects, so the number of their pods is unknown, except for a
 * workflow's own step.
 */
export function manifestsInTexts(document: YamlDocument): readonly Manifest[] {
  if (document.root === null || !(mayHaveManifests.test(document.text) || hasOperations.test(document.text))) return [];
  const root = rootCursor(document.root);
  // Schemas describe objects with examples.
  if (asText(getIn(root, 'kind')) === 'CustomResourceDefinition') return [];
  return literalBlocks(root).flatMap(({ at, scalar }) => {
    const patches = isPatch(at);
    const operates = patches && hasOperations.test(scalar.source);
    if (!operates && !(scalar.source.includes('apiVersion:') && scalar.source.includes('kind:'))) return [];
    const target = patches ? targetOf(getIn(at.parent, 'target')) : undefined;
    const whole = documentsInBlock(document, scalar).flatMap((node) => {
      // An operation replaces what its path names: only the object around its value is partial.
      if (isJsonPatch(node)) return objectOfOperations(node, target) ?? [];
      return [patches ? partialNode(node) : node];
    });
    const objects = whole.flatMap((node) => manifestsAt(document, rootCursor(node)));
    if (patches) {
      return objects.map((one) => ({ ...later(one), isPatch: true, ...(target && { target }) }));
    }
    if (objects.length > 0) return runsOnce(root, at) ? objects : objects.map(later);
    return documentsInScript(document, scalar).flatMap((node) => manifestsAt(document, rootCursor(node)).map(later));
  });
}

/** An indented line with the first field of an object. */
const mayHaveManifests = /^[ \t]+apiVersion:/m;
/** An operation of a JSON patch. */
const hasOperations = /\bop["']?: *["']?(?:add|replace)\b/;

function later(manifest: Manifest): Manifest {
  return { ...manifest, created: 'later' };
}

/** Whether a block changes objects that are elsewhere: a patch of kustomize, Flux or a Helm release. */
function isPatch(block: Cursor): boolean {
  for (let here: Cursor | undefined = block; here !== undefined; here = here.parent) {
    if (/^patch(?:es)?(?:StrategicMerge|Json6902)?$/.test(keyOf(here))) return true;
  }
  return false;
}

/** Whether the block is the manifest of the only step of an Argo workflow. https://argo-workflows.readthedocs.io/en/latest/walk-through/kubernetes-resources/ */
function runsOnce(root: Cursor, block: Cursor): boolean {
  const template = block.parent?.parent;
  if (asText(getIn(root, 'kind')) !== 'Workflow' || keyOf(block) !== 'manifest' || template === undefined) return false;
  return asText(getIn(template, 'name')) === asText(getIn(root, 'spec', 'entrypoint'));
}
