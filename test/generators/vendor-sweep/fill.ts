import type {ClientMethod} from './methods.ts'

/**
 * Arguments for a method, by the names of its parameters: ids as text, the rest as one small object with every id that
 * its code takes out.
 */
export function argumentsFor({source}: ClientMethod, model: string): readonly unknown[] {
  const body = bodyFor(source, model)
  return parametersOf(source).map(name =>
    /^(?:params|body|query)$/.test(name) ? {...body, ...idsIn(source)} : idFor(name, model),
  )
}

/** Without the options of a request, which stand last. */
function parametersOf(source: string): readonly string[] {
  const [, list = ''] = /^(?:async )?[\w$]+\(([^)]*)\)/.exec(source) ?? []
  return list
    .split(',')
    .map(each => each.replace(/=.*/s, '').trim())
    .filter(name => name !== '' && name !== 'options')
}

function bodyFor(source: string, model: string): Record<string, unknown> {
  if (isRead(source)) return {}
  if (/multipart\w*FormRequestOptions/i.test(source)) return {model, file: file()}
  // Messages, chat, responses and embeddings ask for one of these each; others pass on what they do not know.
  return {model, max_tokens: 5, messages: [{role: 'user', content: 'hi'}], input: 'hi'}
}

/** A body would be refused there, by the client itself. */
function isRead(source: string): boolean {
  return /_client\s*\.(?:get|getAPIList|delete)\(/.test(source) && !/method: 'post'/i.test(source)
}

function file(): File {
  return new File([Buffer.from('{"a":1}\n')], 'a.jsonl', {type: 'application/jsonl'})
}

/** Names that the code takes out of its parameters, without what is the rest of them. */
function idsIn(source: string): Record<string, unknown> {
  const [, list = ''] = /const \{([^}]*)\} = (?:params|modifiedParams|body)\b/.exec(source) ?? []
  const names = list.split(',').map(each => each.trim())
  const ids = names
    .filter(name => /_id$|_version$|^version$|_checkpoint$/.test(name))
    .map(name => [name, idFor(name, '')])
  return Object.fromEntries(names.includes('betas') ? [...ids, ['betas', ['some-beta-2026-01-01']]] : ids)
}

function idFor(name: string, model: string): string {
  return /^model/i.test(name) ? model : `${name.replace(/_?ids?$/i, '').toLowerCase()}_1`
}
