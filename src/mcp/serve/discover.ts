import {SignInNeededFault, type UpstreamClient} from '../pool/source.ts'
import type {MessageRecord} from '../records/message-record.ts'
import type {RelayedAnswer} from '../relay/answer.ts'
import {discoverResult, discoverUnsigned} from '../relay/greeting.ts'
import type {Hello} from '../upstream/upstream.ts'
import {endOfAnswer, endOfOurs, written} from './end.ts'
import type {McpExchange, ServingParts} from './exchange.ts'

interface Recorded {
  readonly record: MessageRecord
  readonly ended: {readonly delivered: boolean; readonly rounds: number; readonly is_stream: boolean}
}

/**
 * The answer to `server/discover`, which is in the log. A client whose person has not signed in at the server begins
 * all the same: its lists and calls send the person to the sign-in.
 */
export async function discovered(
  {reply, server}: McpExchange,
  client: UpstreamClient,
  {record, ended}: Recorded,
  {services, source}: ServingParts,
): Promise<RelayedAnswer> {
  const relayed = (text: string): RelayedAnswer => {
    return {kind: 'result', text, status: 200, outcome: 'ok', rpc_code: null, left_out: []}
  }
  let hello: Hello
  try {
    hello = await source.use(client, reply.gone, async upstream => upstream.hello)
  } catch (fault) {
    if (!(fault instanceof SignInNeededFault)) throw fault
    const text = discoverUnsigned(server.integration, server)
    await written(record, {...endOfOurs(ended), answer: text}, services.log)
    return relayed(text)
  }
  const is_private = server.integration.auth_type === 'oauth_auto' || !server.switches.hides_nothing
  const answer = relayed(discoverResult(hello, is_private))
  await written(record, endOfAnswer(answer, hello, ended), services.log)
  return answer
}
