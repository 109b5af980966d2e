import {isObject, type JsonValue} from '../json.ts'
import {base, secret} from './credentials.ts'
import {BOTH, partner, unknownForm} from './partner.ts'
import {bearer, dig} from './reading.ts'

/** Source: CrowdStrike AIDR API, `POST /v1/guard_chat_completions`. */
export const crowdstrike = partner({
  id: 'crowdstrike-aidr.guardChatCompletions',
  title: 'CrowdStrike AIDR',
  about: 'Passes unless the policy blocks. A body that the policy transforms is put in place.',
  sides: BOTH,
  credentials: {apiKey: secret('API token.'), baseUrl: base('Where the API is.')},
  shape: {},
  ask({view, context, credentials, is_input}) {
    const user = context.metadata._user ?? context.metadata.user_id
    return {
      url: `${credentials.baseUrl}/v1/guard_chat_completions`,
      headers: bearer(credentials.apiKey),
      body: {
        guard_input: view.body,
        event_type: is_input ? 'input' : 'output',
        app_id: 'gateway',
        llm_provider: context.provider,
        ...(context.model === null ? {} : {model: context.model}),
        ...(user === undefined ? {} : {user_id: user}),
      },
    }
  },
  read([reply]) {
    const result = dig(reply, 'result')
    if (dig(reply, 'status') !== 'Success' || !isObject(result)) throw unknownForm('CrowdStrike AIDR')
    if (dig(result, 'blocked') === true) return {passes: false, labels: ['blocked']}
    if (dig(result, 'transformed') !== true) return {passes: true}
    const body: JsonValue | undefined = dig(result, 'guard_output')
    return isObject(body) ? {passes: true, labels: ['transformed'], body} : {passes: false, labels: ['transformed']}
  },
})
