import {object} from '../../base/json-object.ts'
import {uriPart} from '../../base/uri-part.ts'
import {UpstreamFault} from '../operation.ts'
import type {Json} from '../translation.ts'
import {
  everyPage,
  firstCount,
  jsonOf,
  type ListedModel,
  type ModelLister,
  named,
  openaiRow,
  rowsIn,
  text,
} from './listed.ts'

/**
 * `GET /models` as OpenAI has it: `{data}`, or a bare list (Together), or under another name. The client's query is
 * passed through.
 */
export const openaiModels: ModelLister = async ({query}, {ask}) => {
  const reply = await ask({method: 'GET', path: '/models', endpoint: 'listModels', query: String(query)})
  return named(rowsIn(await jsonOf(reply), 'data', 'models', 'result'), openaiRow)
}

/** Anthropic's, in pages (platform.claude.com/docs, Models, List Models). */
export const anthropicModels: ModelLister = (_, {ask}) =>
  everyPage(async token => {
    const query = String(new URLSearchParams({limit: '1000', ...(token && {after_id: token})}))
    const value = await jsonOf(await ask({method: 'GET', path: '/models', endpoint: 'listModels', query}))
    const models = named(rowsIn(value, 'data'), anthropicRow)
    const {has_more, last_id} = object(value)
    return {models, next: has_more === true ? (text(last_id) ?? null) : null}
  })

function anthropicRow(row: Json): ListedModel | null {
  const model = openaiRow(row)
  if (!model) return null
  const {type: _, ...more} = model.more ?? {}
  return {...model, owned_by: model.owned_by ?? 'anthropic', more}
}

/** The Gemini API's, in pages (ai.google.dev/api/models). */
export const geminiModels: ModelLister = (_, {ask}) =>
  everyPage(async token => {
    const query = new URLSearchParams({pageSize: '1000', ...(token && {pageToken: token})})
    const value = await jsonOf(await ask({method: 'GET', path: `/v1beta/models?${query}`}))
    // a page without models has no member `models`
    const rows = rowsIn({models: [], ...object(value)}, 'models')
    return {models: named(rows, geminiRow), next: text(object(value).nextPageToken) ?? null}
  })

function geminiRow({
  name,
  displayName,
  inputTokenLimit,
  outputTokenLimit,
  description,
  supportedGenerationMethods: methods,
}: Json) {
  const id = text(name)?.replace(/^models\//, '')
  if (id === undefined) return null
  return {
    id,
    owned_by: 'google',
    name: text(displayName),
    context_length: firstCount(inputTokenLimit),
    max_output_tokens: firstCount(outputTokenLimit),
    more: {
      ...(text(description) !== undefined && {description}),
      ...(Array.isArray(methods) && {supported_generation_methods: methods}),
    },
  }
}

/** Publishers whose models Vertex AI serves beside Google's. */
const PARTNERS = ['anthropic', 'meta', 'mistralai'] as const

/**
 * Vertex AI's, publisher by publisher (Vertex AI API, publishers.models.list). A partner whose list fails is left out.
 */
export const vertexModels: ModelLister = async (input, upstream) => {
  const ofPartner = (publisher: string) =>
    publisherModels(publisher, input, upstream).catch((fault: unknown) => {
      if (fault instanceof UpstreamFault) return []
      throw fault
    })
  const lists = await Promise.all([publisherModels('google', input, upstream), ...PARTNERS.map(ofPartner)])
  return lists.flat()
}

function publisherModels(publisher: string, {context}: Parameters<ModelLister>[0], {ask}: Parameters<ModelLister>[1]) {
  const project = context.options.vertex_project_id
  return everyPage(async token => {
    const query = new URLSearchParams({pageSize: '100', ...(token && {pageToken: token})})
    const headers = project === undefined ? {} : {headers: {'x-goog-user-project': project}}
    const value = await jsonOf(
      await ask({method: 'GET', path: `/v1beta1/publishers/${publisher}/models?${query}`, ...headers}),
    )
    const rows = rowsIn({publisherModels: [], ...object(value)}, 'publisherModels')
    return {models: named(rows, row => publisherRow(row, publisher)), next: text(object(value).nextPageToken) ?? null}
  })
}

/** As calls name it: Google's own without its publisher. */
function publisherRow({name, versionId}: Json, publisher: string): ListedModel | null {
  const model = /\/models\/([\w@.-]+)$/.exec(text(name) ?? '')?.[1]
  if (model === undefined) return null
  const id = publisher === 'google' ? model : `${publisher}.${model}`
  return {id, owned_by: publisher, more: text(versionId) === undefined ? {} : {version_id: versionId}}
}

/**
 * Bedrock's foundation models, and the profiles by which some of them are called alone (Bedrock API,
 * ListFoundationModels, ListInferenceProfiles).
 */
export const bedrockModels: ModelLister = async (_, {ask}) => {
  const models = rowsIn(await jsonOf(await ask({method: 'GET', path: '/foundation-models'})), 'modelSummaries')
  const profiles = await everyPage(async token => {
    const next = token === null ? '' : `&nextToken=${uriPart(token)}`
    const value = await jsonOf(await ask({method: 'GET', path: `/inference-profiles?maxResults=1000${next}`}))
    return {
      models: named(rowsIn({inferenceProfileSummaries: [], ...object(value)}, 'inferenceProfileSummaries'), profileRow),
      next: text(object(value).nextToken) ?? null,
    }
  }).catch((fault: unknown) => {
    // a caller who may list models may not always list profiles
    if (fault instanceof UpstreamFault) return []
    throw fault
  })
  return [...named(models, foundationRow), ...profiles]
}

function foundationRow({
  modelId,
  modelName,
  providerName,
  inputModalities,
  outputModalities,
  inferenceTypesSupported,
}: Json) {
  const id = text(modelId)
  if (id === undefined) return null
  return {
    id,
    owned_by: text(providerName),
    name: text(modelName),
    more: {
      ...(Array.isArray(inputModalities) && {input_modalities: inputModalities}),
      ...(Array.isArray(outputModalities) && {output_modalities: outputModalities}),
      ...(Array.isArray(inferenceTypesSupported) && {inference_types: inferenceTypesSupported}),
    },
  }
}

function profileRow({inferenceProfileId, inferenceProfileName}: Json): ListedModel | null {
  const id = text(inferenceProfileId)
  return id === undefined ? null : {id, name: text(inferenceProfileName)}
}

/** Cohere's, in pages (docs.cohere.com, List Models). */
export const cohereModels: ModelLister = (_, {ask}) =>
  everyPage(async token => {
    const query = new URLSearchParams({page_size: '1000', ...(token && {page_token: token})})
    const value = await jsonOf(await ask({method: 'GET', path: `/v1/models?${query}`}))
    return {models: named(rowsIn(value, 'models'), cohereRow), next: text(object(value).next_page_token) ?? null}
  })

function cohereRow({name, context_length, endpoints}: Json): ListedModel | null {
  const id = text(name)
  if (id === undefined) return null
  return {
    id,
    owned_by: 'cohere',
    context_length: firstCount(context_length),
    more: Array.isArray(endpoints) ? {endpoints} : {},
  }
}
