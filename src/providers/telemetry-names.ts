/** Our kinds of provider by the names that the conventions of OpenTelemetry give them; others go by their own slug. */
const CONVENTIONAL: Readonly<Record<string, string>> = {
  bedrock: 'aws.bedrock',
  'bedrock-mantle': 'aws.bedrock',
  'azure-openai': 'azure.ai.openai',
  'azure-ai': 'azure.ai.inference',
  google: 'gcp.gemini',
  'vertex-ai': 'gcp.vertex_ai',
  'mistral-ai': 'mistral_ai',
  'perplexity-ai': 'perplexity',
  'x-ai': 'x_ai',
}

export function telemetryName(slug: string): string {
  return Object.hasOwn(CONVENTIONAL, slug) ? CONVENTIONAL[slug]! : slug
}
