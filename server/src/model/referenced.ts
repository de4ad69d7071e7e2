// What one object takes from another that it names. Plain records without places.

export interface Referenced<T> {
  readonly kind: string;
  readonly name: string;
  /** The path from the folder of the file that asks; null: it stands in the same file. */
  readonly file: string | null;
  /**
   * It stands in a folder beside that of the file that asks, or of one above: a part of the same project, or another example that knows nothing
   * of this one. What rests on it is advice.
   */
  readonly siblingFolder: boolean;
  readonly facts: T;
}

/** Which object says something. */
export type ObjectName = Pick<Referenced<unknown>, 'kind' | 'name' | 'file'>;

/** The name of an object without what it says. */
export function objectName({ kind, name, file }: ObjectName): ObjectName {
  return { kind, name, file };
}

/** A fact that another object states in place of this one. */
export interface Inherited {
  readonly fact: 'gpuCount' | 'nodeCount' | 'replicas' | 'devices';
  readonly from: ObjectName;
}

/** The bounds that a scaler sets. null: templated. */
export interface ScalerFacts {
  /** The floor in force; KEDA's idleReplicaCount where that is lower. */
  readonly min: number | null;
  /** undefined where nothing is written. */
  readonly max: number | null | undefined;
  /** What it looks at: `cpu`, `memory`, or the name or type of another. */
  readonly metrics: readonly string[];
}
