import type { Engine } from './engine.ts';

export function liveEngine(): Engine {
  throw new Error('not yet');
}
