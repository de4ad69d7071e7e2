import { readFlags } from '../command/flags.ts';
import type { Container } from '../model/workload.ts';
import { type Cursor, isTemplated } from '../yaml/cursor.ts';
import { ordersOf } from './server-flag-relations.ts';
import { valueNeeded } from './server-flags.ts';
import { soleServer } from './sole-server.ts';

/** A variable of a container that its server rejects. */
export interface WrongVariable {
  /** `DTYPE must be float16 or bfloat16, not fp16`. */
  readonly problem: string;
  /** Where its value is. */
  readonly at: Cursor;
}

/** What Text Generation Inference reads from variables: each of its flags, unless the flag itself is written. */
export function wrongVariables(container: Container): readonly WrongVariable[] {
  const server = soleServer(container);
  if (server?.program !== 'text-generation-launcher') return [];
  const flags = new Set(readFlags(server.command?.words ?? []).map(({ name }) => name));
  const variables = container.env.flatMap(({ name, value }) => {
    const flag = /^[A-Z][A-Z_]{2,40}$/.test(name) ? name.toLowerCase().replaceAll('_', '-') : '';
    return value === undefined || flags.has(flag) || isTemplated(value.at) ? [] : [{ name, flag, ...value }];
  });
  const values = variables.flatMap(({ name, flag, value, at }) => {
    const mustBe = valueNeeded(server.program, flag, value);
    return mustBe === undefined ? [] : [{ problem: `${name} must be ${mustBe}, not ${value}`, at }];
  });
  const orders = ordersOf(server.program).flatMap(([lower, upper, relation]) => {
    const [low, high] = [lower, upper].map((flag) => variables.find((one) => one.flag === flag));
    const [least, most] = [low, high].map((one) => (/^\d{1,12}$/.test(one?.value ?? '') ? Number(one?.value) : NaN));
    if (low === undefined || high === undefined || least === undefined || most === undefined) return [];
    const isWrong = relation === '<' ? least >= most : least > most;
    const must = relation === '<' ? 'must be below' : 'must not be above';
    return isWrong ? [{ problem: `${low.name} ${least} ${must} ${high.name} ${most}`, at: low.at }] : [];
  });
  return [...values, ...orders];
}
