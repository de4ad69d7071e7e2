import type { AcceleratorForm, NamedModel } from '../catalog/index.ts';
import type { Cursor, Located } from '../yaml/cursor.ts';

/** A container of a pod, or a mapping that stands for one. */
export interface Container {
  readonly type: 'init' | 'sidecar' | 'app';
  readonly name: string;
  /** The container's mapping; for KServe's `model:` the mapping that stands for it. */
  readonly at: Cursor;
  readonly image: Located<string> | undefined;
  /** The name of an image whose version only the chart knows. */
  readonly repository?: string;
  /** The tag of an image whose repository only the chart knows. */
  readonly tag?: Located<string>;
  readonly command: readonly Located<string>[];
  readonly args: readonly Located<string>[];
  readonly env: readonly { readonly name: string; readonly value: Located<string> | undefined; readonly at: Cursor }[];
  /** `resources`, if it is set. */
  readonly resources: Cursor | undefined;
  /** What a chart writes as the container's `securityContext`, if it is not in the container's mapping. */
  readonly securityContext?: Cursor;
  /** A known template makes the container, so no other volumes are mounted. */
  readonly fromTemplate?: true;
  /** The size of the volume into which the chart or operator downloads the model. */
  readonly modelStorage?: Cursor;
  readonly accelerators: readonly AcceleratorRequest[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly at: Cursor }[];
  /** Variables whose values are in ConfigMaps, if these are known. */
  readonly configEnv?: readonly ConfigVariable[];
  /** All sources of `envFrom` are known ConfigMaps. */
  readonly knowsEnvFrom?: true;
  /** Shell scripts of ConfigMaps that the command runs. */
  readonly scripts: readonly MountedScript[];
  /** Files of ConfigMaps with settings that the command names. */
  readonly settingsFiles?: readonly MountedScript[];
  /** What a model's own config.json in the workspace says of it. */
  readonly modelConfig?: (name: string) => NamedModel | undefined;
}

/** A variable from a ConfigMap. */
export interface ConfigVariable {
  readonly name: string;
  readonly value: string;
  readonly configMap: string;
}

export interface MountedScript {
  readonly path: string;
  readonly text: string;
  /** The argument that names the script. */
  readonly at: Cursor;
}

/** One accelerator resource in a container's `resources`, with its limit and request. */
export interface AcceleratorRequest {
  readonly resource: string;
  readonly form: AcceleratorForm;
  readonly limit: Quantity | undefined;
  readonly request: Quantity | undefined;
  /** The effective count: the limit, else the request; null if templated, empty or not a whole number. */
  readonly count: number | null;
}

/** A resource quantity as written. */
export interface Quantity {
  readonly at: Cursor;
  readonly text: string;
  /** null if the text is templated, empty or not a quantity. */
  readonly value: number | null;
  readonly templated: boolean;
  readonly empty: boolean;
}
