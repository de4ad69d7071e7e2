import { expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { codeLenses } from '../../server/src/features/code-lens.ts';

/** The lens of a workflow template with these fields of its spec. */
function lensOf(spec: string): string | undefined {
  const text = `apiVersion: argoproj.io/v1alpha1\nkind: WorkflowTemplate\nmetadata: {name: train}\nspec:\n${spec}`;
  return codeLenses(new Analysis({ strict: true }).setFile('file:///w/a.yaml', text))[0]?.title;
}

const template = (name: string) => `
    - name: ${name}
      nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
      container:
        image: registry.example/${name}:1.4
        resources: {limits: {nvidia.com/gpu: 2}}`;

test('a template that workflows run has a price per run', () => {
  const one = lensOf(`  templates:${template('train')}\n`);
  expect(one).toBe('2 × L4 per run · $2.00/h on demand · $1.20/h spot');
  const steps = `
    - name: main
      steps:
        - - {name: train, template: train}
          - {name: judge, template: judge}`;
  const both = `  entrypoint: main\n  templates:${steps}${template('train')}${template('judge')}\n`;
  expect(lensOf(both)).toBe('4 × L4 per run · $4.00/h on demand · $2.40/h spot');
});

test('templates of which nobody knows how many run have none', () => {
  expect(lensOf(`  templates:${template('train')}${template('judge')}\n`)).toBeUndefined();
});
