import type { Release } from '../catalog/server-support.ts';
import type { Container } from '../model/workload.ts';
import { type Cursor, isTemplated } from '../yaml/cursor.ts';
import { isBefore, serverRelease } from './server-release.ts';
import { soleServer } from './sole-server.ts';

/** A variable that the release of a container's vLLM no longer reads, or whose value it no longer has. */
export interface OutdatedVariable {
  readonly problem: string;
  /** Of the variable. */
  readonly at: Cursor;
}

interface Former {
  readonly name: string;
  readonly value: RegExp;
  readonly since: Release;
  readonly problem: string;
}

/** https://github.com/vllm-project/vllm/pull/32812 https://github.com/vllm-project/vllm/pull/25033, 2026-11-30 */
const former: readonly Former[] = [
  {
    name: 'VLLM_ATTENTION_BACKEND',
    value: /./,
    since: [0, 18, 0],
    problem:
      'vLLM 0.18 and later do not read VLLM_ATTENTION_BACKEND, but --attention-backend: as written, it has no effect',
  },
  {
    name: 'VLLM_USE_V1',
    value: /^0$/,
    since: [0, 11, 0],
    problem:
      'VLLM_USE_V1=0 selects an engine that vLLM 0.11 and later do not have: the server does not start, or ignores it',
  },
];

/** The variables of a container that only earlier releases of its vLLM read. */
export function outdatedVariables(container: Container): readonly OutdatedVariable[] {
  const found = container.env.flatMap(({ name, value, at }) => {
    const one = value === undefined || isTemplated(value.at) ? undefined : former.find((each) => each.name === name);
    return one?.value.test(value?.value ?? '') ? [{ one, at }] : [];
  });
  const release =
    found.length === 0 || soleServer(container)?.program !== 'vllm' ? undefined : serverRelease(container);
  if (release === undefined) return [];
  return found.flatMap(({ one, at }) => (isBefore(release, one.since) ? [] : [{ problem: one.problem, at }]));
}
