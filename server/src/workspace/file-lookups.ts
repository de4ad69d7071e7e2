import { platformKind } from '../model/kinds/pipeline-platform.ts';
import type { Referenced } from '../model/referenced.ts';
import type { StepFacts } from '../model/referenced-pods.ts';
import { headerKind } from './kinds.ts';
import { factsAs, factsNamed, type Scope } from './named.ts';
import { anyObject } from './workspace.ts';

// What other documents of the same file say.

export function fileHeader(scope: Scope): readonly string[] {
  return inFile(scope, headerKind).flatMap(({ object }) => factsAs(object, 'header') ?? []);
}

/** The steps of a named object, or the settings of the pipeline in the same file, which have no name. */
export function stepsOf(
  scope: Scope,
  kind: string,
  namespace: string | null,
  name: string,
): Referenced<StepFacts> | undefined {
  if (!kind.endsWith(`/${platformKind}`)) return factsNamed(scope, [kind], namespace, name, 'steps');
  const [own, ...others] = inFile(scope, platformKind);
  const facts = own && factsAs(own.object, 'steps');
  // Of several pipelines in one file, it is unknown whose they are.
  return facts == null || others.length > 0
    ? undefined
    : { kind: platformKind, name, file: null, siblingFolder: false, facts };
}

function inFile(scope: Scope, kind: string) {
  const found = scope.workspace.objects(kind, anyObject, '').above(scope);
  return found.filter(({ key }) => key === scope.key);
}
