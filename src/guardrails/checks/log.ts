import {check, judged} from '../check.ts'
import {headersParameter, outgoingHeaders, timeoutParameter, urlParameter} from '../headers.ts'
import {ask} from '../http.ts'
import {jsonText} from '../json-text.ts'
import {inTimeSlices} from '../time-slices.ts'
import {callOf} from '../webhook-payload.ts'

const MAX_BYTES = 64 * 1024

export const log = check({
  id: 'default.log',
  title: 'Log',
  about: 'Sends the call to your service, in the format of a webhook. Always passes, also if this fails.',
  sides: ['output'],
  shape: {logURL: urlParameter('Whom to tell.'), headers: headersParameter, timeout: timeoutParameter(3000)},
  async run(_, {logURL, headers, timeout}, context) {
    const request = {
      method: 'POST',
      url: logURL,
      headers: outgoingHeaders(headers, [], context),
      body: await inTimeSlices(jsonText(callOf(context))),
    } as const
    const logHost = new URL(logURL).host
    try {
      const {status} = await ask(context.http, request, context.after(timeout), MAX_BYTES, 'The log service')
      const is_taken = status >= 200 && status < 300
      const explanation = is_taken ? 'The log service was told.' : `The log service answered ${status}.`
      return judged(true, {explanation, logHost, told: is_taken})
    } catch (error) {
      const explanation = error instanceof Error ? error.message : String(error)
      return judged(true, {explanation, logHost, told: false})
    }
  },
})
