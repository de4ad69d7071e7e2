import type { ProjectConfig } from '../config.ts';
import { targetOf } from '../evidence/scaler-target.ts';
import { type CrossReferences, type Referenced, withAnswers } from '../model/cross-references.ts';
import { amongBuilt } from '../model/kustomize/among-built.ts';
import { type BuiltObject, mayBeIn } from '../model/kustomize/built-object.ts';
import { external } from '../model/kustomize/merge.ts';
import { lowerManifests } from '../model/manifest.ts';
import { scalerKinds } from '../model/scalers.ts';
import type { Manifest } from '../model/workload.ts';
import { factsOf } from '../workspace/facts.ts';
import type { YamlDocument, YamlNode } from '../yaml/node.ts';

/** What an object of a kustomization references. */
export interface Among {
  /** The claims, and the workloads that scalers scale, have all patches of the kustomization. */
  readonly patched: CrossReferences;
  /** They lack the patches of the kustomization itself, so they are what those who wrote its base have seen. */
  readonly before: CrossReferences;
}

/** @param isPatch the objects still lack the patches of the file from which the lookups start */
export function amongPatched(
  objects: readonly BuiltObject[],
  document: YamlDocument,
  options: ProjectConfig,
  others: CrossReferences,
  isPatch: boolean,
): Among {
  const among = amongBuilt(objects, others, isPatch);
  const answering = (rootOf: (object: BuiltObject) => YamlNode) => {
    /** Undefined if the kustomization builds no such object; null if there are several, or it has no facts. */
    const find = (kind: string, namespace: string | null, name: string) => {
      const found = objects.filter((one) => one.kind === kind && one.names.includes(name) && mayBeIn(one, namespace));
      const [first, second] = found;
      if (first === undefined) return undefined;
      const [manifest] = second === undefined ? manifestsOf(rootOf(first), document) : [];
      const facts = manifest === undefined ? null : factsOf(manifest, options);
      return facts && { facts, named: { kind, name: manifest?.name ?? name, file: first.file, siblingFolder: false } };
    };
    return withAnswers(among, {
      workload(kind, namespace, name) {
        const found = find(kind, namespace, name);
        if (found === undefined) return others.workload(kind, namespace, name);
        return found?.facts.type === 'workload' ? { ...found.named, facts: found.facts.facts } : undefined;
      },
      volumeClaim(namespace, name, of = 'PersistentVolumeClaim') {
        const found = find(of.slice(of.lastIndexOf('/') + 1), namespace, name);
        if (found === undefined) return others.volumeClaim(namespace, name, of);
        return found?.facts.type === 'volume' ? { ...found.named, facts: found.facts.facts } : undefined;
      },
    });
  };
  return { patched: answering(({ root }) => root), before: answering(({ root, before = root }) => before) };
}

/** Positions in other files mean nothing here. */
export function manifestsOf(root: YamlNode, document: YamlDocument): readonly Manifest[] {
  const made = external(root);
  return made.kind === 'map' ? lowerManifests({ ...document, root: made }) : [];
}

/** Whether one of the objects scales pods with accelerators. */
export function scaleAccelerators(manifests: readonly Manifest[], crossReferences: CrossReferences): boolean {
  return manifests.some((one) => scalerKinds.includes(one.kind) && holdsDevices(targetOf(one, crossReferences)));
}

function holdsDevices(target: Referenced<{ readonly devices: number | null }> | undefined): boolean {
  return target !== undefined && target.facts.devices !== 0;
}
