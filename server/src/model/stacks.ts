import { asText, type Cursor, entries, getIn } from '../yaml/cursor.ts';

/** Whether the document is a template of CloudFormation with pools of nodes. https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-anatomy.html */
export function isStack(root: Cursor): boolean {
  return entries(getIn(root, 'Resources')).some((one) => isStackPool(asText(getIn(one, 'Type')) ?? ''));
}

/** Whether a type of resource is a pool. */
export function isStackPool(type: string): boolean {
  return stackPool.test(type);
}

/** The types of pools. Groups of virtual machines are pools if they name their machines. */
export const stackPool = /\bAWS::(?:EKS::Nodegroup|Batch::ComputeEnvironment|AutoScaling::AutoScalingGroup)\b/;
