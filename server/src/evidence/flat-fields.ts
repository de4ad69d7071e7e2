import { apiFields, isCustomType } from '../catalog/index.ts';
import { getIn } from '../yaml/cursor.ts';
import type { YamlNode } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import type { MeantField } from './api-names.ts';
import type { ApiProblem } from './api-problems.ts';

/** Several fields of one mapping that belong under others. */
export interface FlatFields {
  readonly first: ApiProblem;
  readonly others: readonly ApiProblem[];
  readonly message: string;
}

/** Fields of custom resources next to the missing mappings that require them: the form of another version, which is one mistake. */
export function flatFields(meant: ReadonlyMap<ApiProblem, MeantField>): readonly FlatFields[] {
  const byHolder = new Map<YamlNode, Group>();
  for (const [problem, found] of meant) {
    const { holder } = problem;
    const place = found.as === 'below' ? found.path[0] : undefined;
    if (place === undefined || !isCustomType(holder.type) || getIn(holder.at, place) !== undefined) continue;
    if (apiFields(holder.type).get(place)?.required !== true) continue;
    const known = byHolder.get(holder.at.node);
    if (known === undefined) byHolder.set(holder.at.node, { first: problem, others: [], places: [place] });
    else {
      known.others.push(problem);
      if (!known.places.includes(place)) known.places.push(place);
    }
  }
  const several = [...byHolder.values()].filter(({ others }) => others.length > 1);
  for (const [problem, found] of meant) {
    const group = several.find(({ first }) => first.holder.at.node === problem.holder.at.node);
    if (found.as === 'below' && group !== undefined && group.first !== problem && !group.others.includes(problem))
      group.others.push(problem);
  }
  return several.map(({ first, others, places }) => ({
    first,
    others,
    message: `${first.field} and ${others.length} more fields belong under ${shorten(places.join(' and '), 50)} in current versions: they require these fields and reject the object`,
  }));
}

interface Group {
  readonly first: ApiProblem;
  readonly others: ApiProblem[];
  /** The mappings under which they belong. */
  readonly places: string[];
}
