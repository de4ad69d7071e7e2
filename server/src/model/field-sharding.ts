import type { Cursor } from '../yaml/cursor.ts';

/** Over how many devices a controller tells a server to spread one model in each pod. */
export interface FieldSharding {
  /** The fields with their values: `tensor 4 × dataLocal 2`; what uses one device if there are none. */
  readonly text: string;
  readonly devices: number;
  readonly at: Cursor;
  /** Whether the server may be started with other sizes. */
  readonly uncertain?: true;
}
