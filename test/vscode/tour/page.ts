import type { Tour } from './run.ts';

/** The table of all that the tours show, for docs/tour.md. */
export function tourPage(tours: readonly Tour[]): string {
  const rows = tours.flatMap(({ title, steps }) =>
    steps.map(({ feature, shows, picture }) => `| ${feature} | ${shows} | ${title} | ${picture}.png |`),
  );
  return `# What the editor shows, and what proves it

\`npm run test:vscode\` opens a real VS Code and goes through every row by mouse and keyboard, as a person does. Each step looks at what is
on the screen, and leaves a picture in \`dist-test/pictures\`. This page is written by \`UPDATE=1 npx vitest run test/tour-page.test.ts\`.

| feature | what is shown | window | picture |
|---|---|---|---|
${rows.join('\n')}
`;
}
