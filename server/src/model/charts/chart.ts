import type { Cursor } from '../../yaml/cursor.ts';
import type { PodSetSource } from '../kinds/kind.ts';
import type { Role } from '../workload.ts';

/** A well-known chart: what its templates make of its values. */
export interface Chart {
  /** The names under which repositories publish it. */
  readonly names: readonly string[];
  /** The templates or values from which its facts are, and the day on which they were read. */
  readonly source: string;
  readonly date: string;
  /** Whether a mapping has keys that only this chart's values have. */
  readonly owns: (values: Cursor) => boolean;
  readonly blocks: (values: Cursor) => readonly ChartBlock[];
  /** Keys at the top whose values are parts of all blocks. */
  readonly shared?: readonly string[];
}

/** The pods that a chart makes of one mapping of its values. */
export interface ChartBlock {
  readonly root: Cursor;
  readonly podSet: PodSetSource;
  /** The role, if the chart decides it. */
  readonly role?: Role;
  /** Users or other objects start the pods, so their number is unknown. */
  readonly uncounted?: true;
  /** The pods get exactly the written `resources`: the chart has no own ones with accelerators, to which Helm would add the written ones. */
  readonly wholeResources?: true;
}
