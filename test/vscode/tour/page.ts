import type { Tour } from './run.ts';

/** The table of all steps of the tours, for docs/tour.md. */
export function tourPage(tours: readonly Tour[]): string {
  const rows = tours.flatMap(({ title, steps }) =>
    steps.map(({ feature, shows, picture }) => `| ${feature} | ${shows} | ${title} | ${picture}.png |`),
  );
  return `# What the editor shows, and the tests that prove it

\`npm run test:vscode\` opens a real VS Code and performs every row with mouse and keyboard, as a person would. Each step checks what is
on the screen and saves a picture in \`dist-test/pictures\`. \`UPDATE=1 npx vitest run test/tour-page.test.ts\` writes this page.

| feature | what it shows | window | picture |
|---|---|---|---|
${rows.join('\n')}
`;
}
