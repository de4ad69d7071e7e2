/** Words without one of which a document can say nothing about accelerators: such documents are not even parsed in the editor. */
const acceleratorWords =
  /gpu|nvidia|tpu|neuron|gaudi|habana|accelerator|amd\.com|ascend|spot|preemptible|resourceClaim|instance-?Type|mig-|kubeflow|volcano|keda|knative|karpenter|kaito|kubeai|PodAutoscaler|baseRefs|\bruntime:/i;

/** Whether a text may say something about accelerators. */
export function mayConcernAccelerators(text: string): boolean {
  return acceleratorWords.test(text);
}
