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
/** Names of earlier versions of the conventions. */
const EARLIER: Readonly<Record<string, string>> = {
  'az.ai.openai': 'azure-openai',
  'az.ai.inference': 'azure-ai',
  'gcp.gen_ai': 'google',
  gemini: 'google',
  vertex_ai: 'vertex-ai',
  xai: 'x-ai',
  mistral: 'mistral-ai',
}
/** Of two kinds of one name the first. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(EARLIER),
  ...Object.entries(CONVENTIONAL)
    .map(([slug, name]) => [name, slug] as const)
    .toReversed(),
])

export function telemetryName(slug: string): string {
  return Object.hasOwn(CONVENTIONAL, slug) ? CONVENTIONAL[slug]! : slug
}

/** The kind of provider that a name of the conventions means; the name itself where it is none of them. */
export function kindOfTelemetryName(name: string): string {
  const plain = name.trim().toLowerCase()
  return KINDS.get(plain) ?? plain
}
