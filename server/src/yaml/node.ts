import type { Span } from './span.ts';

/** A value of a YAML document with its place in the text. Aliases are resolved: an aliased node appears in several places. */
export type YamlNode = YamlScalar | YamlMap | YamlSeq;

export interface YamlScalar {
  readonly kind: 'scalar';
  /** The value as Kubernetes reads it: plain scalars follow YAML 1.1 booleans (yes, on) and octals (0700). */
  readonly value: string | number | boolean | null;
  /** The scalar's text with quotes, escapes and folding resolved; '' for an empty value. */
  readonly source: string;
  readonly style: 'plain' | 'single' | 'double' | 'literal' | 'folded';
  /** Part of the value is a template expression or a placeholder ({{ }}, ${VAR}, <...>): its value is unknown, never wrong. */
  readonly templated: boolean;
  /** Includes the quotes. For an empty value, the empty span after the colon of its key. */
  readonly span: Span;
}

export interface YamlMap {
  readonly kind: 'map';
  /**
   * In text order, with merged entries at the position of their merge key. A duplicate key appears twice (and is a problem); the last one
   * counts, as in the Kubernetes decoder. Merged entries that the mapping overrides are left out.
   */
  readonly entries: readonly YamlEntry[];
  readonly flow: boolean;
  /** A template action on its own line may add unseen keys, so a missing key means nothing. */
  readonly incomplete: boolean;
  /** A line with an error of syntax is probably one of its keys. */
  readonly lost?: true;
  readonly span: Span;
}

export interface YamlEntry {
  readonly key: string;
  readonly keySpan: Span;
  readonly value: YamlNode;
  /** The value is written elsewhere: through an alias, or a merge key that brought in the entry. */
  readonly shared: boolean;
}

export interface YamlSeq {
  readonly kind: 'seq';
  readonly items: readonly YamlItem[];
  readonly flow: boolean;
  /** As for maps: unseen items may follow. */
  readonly incomplete: boolean;
  /** A template loop repeats the written items: their number is unknown. */
  readonly repeated?: true;
  readonly span: Span;
}

export interface YamlItem {
  readonly value: YamlNode;
  readonly shared: boolean;
}

/** A `#` comment. The span starts at the hash and ends before the line end. */
export interface YamlComment {
  readonly text: string;
  readonly span: Span;
  /** Only white space precedes it on its line. */
  readonly ownLine: boolean;
}

/** A place of a template that needs values which the chart does not set, by their path. */
export interface MissingValue {
  readonly span: Span;
  readonly path: string;
  /** Helm prints nothing there. Otherwise it fails. */
  readonly printsNothing?: true;
}

/** Something that prevents a text from being read as YAML. */
export interface YamlProblem {
  /** One short sentence without jargon or a full stop: what is wrong and, where that is clear, how to correct it. */
  readonly message: string;
  readonly span: Span;
  /** The text is readable, but surely not as intended (a duplicate key). */
  readonly readable?: true;
  /** Only what is here is unknown: the rest of the document is read as it is meant. */
  readonly isLocal?: true;
}

/** One `---` document of a file, with spans relative to its own text. */
export interface YamlDocument {
  /** The offset of the document's text in the file. */
  readonly base: number;
  readonly text: string;
  /** Null for a document that is empty, contains only comments, or cannot be read at all. */
  readonly root: YamlNode | null;
  readonly comments: readonly YamlComment[];
  readonly problems: readonly YamlProblem[];
  /** The document contains template syntax; its expressions were masked before it was read. */
  readonly template: boolean;
  /** Why the document was not read (nested too deep, too many aliases): a sentence, also in `problems`. Null if it was read. */
  readonly skipped: string | null;
  /** An item of a long `kind: List`, read alone: its root is a sequence of one item, the object. */
  readonly item?: true;
  /** The template actions of earlier documents that apply in this one: blocks that they leave open, and variables. */
  readonly opened?: string;
  /** The URI of the file, if it has a name under which kustomize reads it. */
  readonly kustomization?: string;
  /** It is read for its errors of syntax only: they keep other files from being rendered. */
  readonly breaksOthers?: true;
  /** What a template needs and the values of its chart lack. */
  readonly missing?: readonly MissingValue[];
}

/** A text read as a stream of YAML documents (JSON is a subset of YAML). */
export interface YamlFile {
  readonly text: string;
  readonly documents: readonly YamlDocument[];
  /** Why nothing in the file was read (too large, binary, its only document nested too deep); null if it was read. */
  readonly skipped: string | null;
}
