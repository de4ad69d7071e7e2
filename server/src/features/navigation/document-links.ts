import type { FileAnalysis } from '../../analysis.ts';
import { rules } from '../../rules/index.ts';
import { type Span, shiftSpan } from '../../yaml/span.ts';

/** A linked word, with its span in the file. */
export interface DocumentLink {
  readonly span: Span;
  /** The page of a rule, or an address. */
  readonly to: { readonly rule: string } | { readonly url: string };
}

/** Links to the rules that comments silence, and to models named by their Hugging Face address. */
export function documentLinks(file: FileAnalysis): readonly DocumentLink[] {
  return [...rulesIn(file), ...modelsIn(file.text)].sort((a, b) => a.span.start - b.span.start);
}

function rulesIn(file: FileAnalysis): readonly DocumentLink[] {
  // Most files silence nothing and then need not be parsed.
  if (!file.text.includes('gpulint-disable')) return [];
  return file.documents.flatMap(({ document, base }) =>
    document.comments.flatMap(({ text, span }) => {
      const [before = '', ids = ''] = /^#+\s*gpulint-disable(?:-line|-next-line)?\s+((?:(?!--).)*)/.exec(text) ?? [];
      const start = span.start + before.length - ids.length;
      return [...ids.matchAll(/[\w-]+/g)].flatMap(({ 0: id, index }): DocumentLink[] => {
        const word = { start: start + index, end: start + index + id.length };
        return rules.has(id) ? [{ span: shiftSpan(word, base), to: { rule: id } }] : [];
      });
    }),
  );
}

/** `hf://organization/model`, as KServe and others write it. */
function modelsIn(text: string): readonly DocumentLink[] {
  return [...text.matchAll(/\bhf:\/\/([A-Za-z0-9][\w.-]{0,95}\/[A-Za-z0-9][\w.-]{0,95})(?![\w/])/g)].map(
    ({ 0: address, 1: model = '', index }) => ({
      span: { start: index, end: index + address.length },
      to: { url: `https://huggingface.co/${model.replace(/(?<![.-])[.-]+$/, '')}` },
    }),
  );
}
