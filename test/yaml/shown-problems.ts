import { parseYaml } from '../../server/src/yaml/parse.ts';

/** The problems of a text as `line message [text]`. */
export function problemsOf(text: string): string[] {
  return parseYaml(text).documents.flatMap(({ base, text: own, problems: found }) =>
    found.map(({ message, span }) => {
      const line = text.slice(0, base + span.start).split('\n').length;
      return `${line} ${message} [${own.slice(span.start, span.end)}]`;
    }),
  );
}
