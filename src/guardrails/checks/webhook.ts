import {type CheckContext, check, failed, judged, type Verdict} from '../check.ts'
import {CheckFault} from '../fault.ts'
import {forwardedParameter, headersParameter, outgoingHeaders, timeoutParameter, urlParameter} from '../headers.ts'
import {ask, type PartnerResponse} from '../http.ts'
import {isObject, type JsonValue, own} from '../json.ts'
import {jsonText, readingJson} from '../json-text.ts'
import {inTimeSlices} from '../time-slices.ts'
import {callOf} from '../webhook-payload.ts'

/** An answer may hold a whole body. */
const MAX_BYTES = 8 * 1024 * 1024
const MAX_SAID = 2000

export const webhook = check({
  id: 'default.webhook',
  title: 'Webhook',
  about:
    'Passes if your service returns a positive verdict. The service can also return a body that replaces the request or the response.',
  sides: ['input', 'output'],
  is_service: true,
  shape: {
    webhookURL: urlParameter('Where to ask. The call is a POST of JSON; redirections are not followed.'),
    headers: headersParameter,
    timeout: timeoutParameter(3000),
    forwardHeaders: forwardedParameter,
  },
  part: () => true,
  async run(_, {webhookURL, headers, timeout, forwardHeaders}, context) {
    const request = {
      ...({method: 'POST', url: webhookURL} as const),
      headers: outgoingHeaders(headers, forwardHeaders, context),
      body: await inTimeSlices(jsonText(callOf(context))),
    }
    const about = {webhookHost: new URL(webhookURL).host}
    try {
      const answer = await ask(context.http, request, context.after(timeout), MAX_BYTES, 'The webhook')
      return await read(answer, context, about)
    } catch (error) {
      return failed(error instanceof Error ? error : new CheckFault(String(error)), about)
    }
  },
})

async function read(
  {status, text, type}: PartnerResponse,
  context: CheckContext,
  about: {readonly webhookHost: string},
): Promise<Verdict> {
  const reply = await inTimeSlices(readingJson(text))
  if (status < 200 || status > 299) {
    const responseData = reply === undefined || text.length > MAX_SAID ? null : reply
    return failed(new CheckFault(`The webhook answered ${status}.`, 'HttpError'), {
      ...about,
      responseStatus: status,
      responseData,
    })
  }
  if (!isObject(reply))
    return failed(
      new CheckFault(`The webhook answered no JSON object, but ${type.slice(0, 100) || 'something without a type'}.`),
      about,
    )
  const verdict = own(reply, 'verdict')
  if (typeof verdict !== 'boolean')
    return failed(new CheckFault('The webhook’s answer has no verdict, true or false.'), about)
  const data = {
    explanation: `The webhook ${verdict ? 'passed' : 'failed'} it.`,
    ...about,
    responseData: own(reply, 'data') ?? null,
  }
  const put = replacement(reply, context)
  if (put === undefined) return judged(verdict, data)
  if (!isObject(put))
    return failed(new CheckFault('The webhook’s transformedData holds no JSON object to put in place.'), about)
  return {...judged(verdict, data), transformed: {is_whole: true, apply: view => view.withBody(put)}}
}

/** The new body; undefined when this side stays. */
function replacement(reply: JsonValue, {side}: CheckContext): JsonValue | undefined {
  const phase = own(own(reply, 'transformedData'), side === 'input' ? 'request' : 'response')
  const json = own(phase, 'json')
  return json === null ? undefined : json
}
