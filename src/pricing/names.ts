/**
 * Providers whose calls are priced as another's when they have no row of their own: the same models at the same list
 * price.
 */
const PRICED_AS: ReadonlyMap<string, readonly string[]> = new Map([
  ['azure-openai', ['openai']],
  ['azure-ai', ['azure-openai', 'openai']],
  ['bedrock-mantle', ['bedrock']],
  ['claude-platform-aws', ['anthropic']],
])

/** The providers to ask for a price, in order: itself, then those it is priced as. */
export function pricedAs(provider: string): readonly string[] {
  return [provider, ...(PRICED_AS.get(provider) ?? [])]
}

/**
 * The names under which the price of `model` may be listed, the most exact first, in lower case. The removed part is
 * how a call is routed (a region, an ARN, a publisher), never what model it is; a date is part of the model.
 */
export function lookupKeys(provider: string, model: string): readonly string[] {
  const name = model.trim().toLowerCase()
  const own =
    name.startsWith(`${provider}.`) || name.startsWith(`${provider}/`) ? name.slice(provider.length + 1) : name
  return [...new Set([name, own, ...(SPELLINGS.get(provider)?.(own) ?? [])])]
}

const DATE = /[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2})$/
const MAKER = /^[a-z]+\.(?=[a-z])/

/**
 * True where two names may stand for one model of `provider`: a region, a publisher, a revision or a date is no other
 * model.
 */
export function isSameModel(provider: string, one: string, other: string): boolean {
  const spelled = (model: string) =>
    lookupKeys(provider, model).map(key =>
      key
        .replace(MAKER, '')
        .replace(/-v\d+$/, '')
        .replace(DATE, ''),
    )
  const names = new Set(spelled(one))
  return spelled(other).some(name => names.has(name))
}

/**
 * A Bedrock id may begin with the region its calls are kept in, or `global.`: those may go anywhere, and often cost
 * less.
 */
export const BEDROCK_REGION = /^(?:us|us-gov|eu|apac|jp|au|ca|in|sa|me|af|global)\./
const PUBLISHER =
  /^(google|anthropic|meta|mistralai|qwen|xai|moonshotai|zai-org|deepseek-ai|openai|minimaxai|endpoints)[./]/

const SPELLINGS: ReadonlyMap<string, (name: string) => readonly string[]> = new Map([
  ['openai', fineTuned],
  ['azure-openai', fineTuned],
  ['bedrock', bedrock],
  ['vertex-ai', vertex],
  ['google', (name: string) => [name.replace(/^models\//, '')]],
  [
    'fireworks-ai',
    (name: string) => [name.replace(/^accounts\/fireworks\/models\//, ''), `accounts/fireworks/models/${name}`],
  ],
  ['workers-ai', (name: string) => [name.slice(name.lastIndexOf('/') + 1)]],
])

function bedrock(name: string): readonly string[] {
  // arn:aws:bedrock:REGION:ACCOUNT:inference-profile/us.anthropic.claude-... and foundation-model/...
  const id = name.startsWith('arn:') ? name.slice(name.lastIndexOf('/') + 1) : name
  const region = BEDROCK_REGION.exec(id)?.[0] ?? ''
  const model = id.slice(region.length)
  // The context variant of a provisioned model (":48k") and the revision (":0") do not change the price.
  const plain = model.replace(/:\d+k$/, '')
  const bare = plain.replace(/:\d+$/, '')
  const spellings = [model, plain, bare, `${plain}:0`, `${plain}-v1:0`]
  // The region's own price, however the id is spelled, goes before that of the model.
  return [id, ...(region ? spellings.map(spelling => region + spelling) : []), ...spellings]
}

function vertex(name: string): readonly string[] {
  const id = name.replace(/^publishers\/([^/]+)\/models\//, '$1/')
  const publisher = PUBLISHER.exec(id)?.[1]
  if (publisher === undefined) return [id]
  const model = id.slice(publisher.length + 1)
  return [id, model, `${publisher}/${model}`]
}

/** `ft:gpt-4o-2024-08-06:our-org::id` is priced as every fine-tune of its base. */
function fineTuned(name: string): readonly string[] {
  return name.startsWith('ft:') ? [name.split(':').slice(0, 2).join(':')] : []
}
