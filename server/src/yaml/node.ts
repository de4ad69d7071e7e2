import type { Span } from './span.ts';

/** A value of a YAML document with its place in the text. Aliases are resolved: an aliased node appears in several places. */
export type YamlNode = YamlScalar | YamlMap | YamlSeq;

export interface YamlScalar {
  readonly kind: 'scalar';
  /** The value as Kubernetes reads it: YAML 1.1 booleans (yes, on) and octals (0700) for plain scalars. */
  readonly value: string | number | boolean | null;
  /** The scalar's text without quotes, escapes and folding resolved; '' for an empty value. */
  readonly source: string;
  readonly style: 'plain' | 'single' | 'double' | 'literal' | 'folded';
  /** Part of the value is a template expression or a placeholder ({{ }}, ${VAR}, <...>): its value is unknown, never wrong. */
  readonly templated: boolean;
  /** With its quotes. Empty, behind the colon of its key, where nothing is written. */
  readonly span: Span;
}

export interface YamlMap {
  readonly kind: 'map';
  /**
   * In the order of the text, a merge key's entries at its place. A key that is set twice stands here twice (and is a problem);
   * the last one counts, as for the decoder of Kubernetes. Merged entries whose key the mapping has itself are left out.
   */
  readonly entries: readonly YamlEntry[];
  readonly flow: boolean;
  /** A template action on a line of its own stands in it: it may hold keys that cannot be seen, so absence means nothing. */
  readonly open: boolean;
  readonly span: Span;
}

export interface YamlEntry {
  readonly key: string;
  readonly keySpan: Span;
  readonly value: YamlNode;
  /** The value is written elsewhere (an alias, or a merge key brought the entry here). */
  readonly shared: boolean;
}

export interface YamlSeq {
  readonly kind: 'seq';
  readonly items: readonly YamlItem[];
  readonly flow: boolean;
  /** As for maps: items that cannot be seen may follow. */
  readonly open: boolean;
  /** A template's loop makes items of what is written: how many there will be is not told. */
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
  /** Nothing but white space stands before it on its line. */
  readonly ownLine: boolean;
}

/** Something that keeps a text from being read as YAML. */
export interface YamlProblem {
  /** One short sentence without a full stop's worth of jargon: what is wrong, and how to mend it where that is plain. */
  readonly message: string;
  readonly span: Span;
  /** The text can be read all the same, but not as it was surely meant (a key that is set twice). */
  readonly readable?: true;
}

/** One `---` document of a file, with spans relative to its own text. */
export interface YamlDocument {
  /** Where the document's text starts in the file. */
  readonly base: number;
  readonly text: string;
  /** null for a document that is empty, holds only comments, or cannot be read at all. */
  readonly root: YamlNode | null;
  readonly comments: readonly YamlComment[];
  readonly problems: readonly YamlProblem[];
  /** The document holds template syntax; its expressions were masked before it was read. */
  readonly template: boolean;
  /** Why the document was not read (nested too deep, too many aliases): a sentence, also told in `problems`. Null when it was read. */
  readonly skipped: string | null;
  /** It is an item of a long `kind: List`, read alone: its root is a sequence of one, the object. */
  readonly item?: true;
}

/** A text read as a stream of YAML documents (JSON is one kind of YAML). */
export interface YamlFile {
  readonly text: string;
  readonly documents: readonly YamlDocument[];
  /** Why nothing of the file was read (too large, binary, its only document nested too deep); null when it was. */
  readonly skipped: string | null;
}
