import type { ApiType } from '../catalog/index.ts';
import { either } from '../catalog/word-patterns.ts';
import type { YamlScalar } from '../yaml/node.ts';

/** What a Helm template makes of a field, whatever its values are: text instead of a number, or Go's notation of a mapping or a list. */
export type RenderedProblem = 'rendered-text' | 'rendered-collection';

/** What is wrong with a field of this type whose value a template writes. */
export function renderedProblem({ span }: YamlScalar, type: ApiType, text: string): RenderedProblem | undefined {
  if (span.end - span.start > LONGEST) return undefined;
  const written = text.slice(span.start, span.end);
  switch (type.form) {
    case 'integer':
    case 'number':
    case 'boolean':
      return quotedValue.test(written) ? 'rendered-text' : undefined;
    case 'object':
    case 'map':
      return bareValue.test(written) ? 'rendered-collection' : undefined;
    case 'list':
      // Go's notation of a list of words is one of YAML, too.
      return type.of.form === 'object' && bareValue.test(written) ? 'rendered-collection' : undefined;
    default:
      return undefined;
  }
}

const LONGEST = 500;

/** One value in quotes, or one that `quote` puts into quotes. */
const quotedValue = either(
  /^(["'])\{\{-?[^{}"']*\.Values\.[^{}"']*\}\}\1$/,
  /^\{\{-?[^{}|]*\.Values\.[^{}]*\|\s*s?quote\s*-?\}\}$/,
);

/** A value as it is, without a function that writes YAML. */
const bareValue = /^\{\{-?\s*\$?\.Values(?:\.\w+)+\s*-?\}\}$/;
