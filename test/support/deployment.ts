/**
 * A Deployment with the pod that these lines describe, from `containers:` on without indentation.
 * @param options.spec lines above its selector, such as `replicas: 2`
 */
export function deploymentOf(pod: string, { name = 'chat', spec = '' } = {}): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
${indented(spec, 2)}  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
${indented(pod, 6)}`;
}

/** Each line of a text with as many blanks before it, and a line end after the last one. */
function indented(text: string, blanks: number): string {
  return text === '' ? '' : `${text.replace(/\n$/, '').replace(/^(?=.)/gm, ' '.repeat(blanks))}\n`;
}
