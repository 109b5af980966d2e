import {z} from 'zod'
import {secret} from './credentials.ts'
import {BOTH, partner, unknownForm} from './partner.ts'
import {dig, namesOf, textsIn} from './reading.ts'

const name = (what: string) => z.string().min(1).max(255).optional().describe(what)

/** Source: Prisma AIRS API, `POST /v1/scan/sync/request`. */
export const panw = partner({
  id: 'panw-prisma-airs.intercept',
  title: 'Prisma AIRS',
  about: 'Passes unless the profile’s action is to block.',
  sides: BOTH,
  aliases: ['panwPrismaAirs.intercept'],
  credentials: {AIRS_API_KEY: secret('API key.')},
  shape: {
    profile_name: name('The security profile, by name.'),
    profile_id: name('The security profile, by id.'),
    ai_model: name('The model, told to Prisma AIRS; the call’s by default.'),
    app_user: name('The user, told to Prisma AIRS.'),
    app_name: name('The application, told to Prisma AIRS.'),
  },
  ask({text, context, credentials, parameters: {profile_name, profile_id, ai_model, app_user, app_name}, is_input}) {
    const profile: Record<string, string> = {
      ...(profile_name ? {profile_name} : {}),
      ...(profile_id ? {profile_id} : {}),
    }
    return {
      url: 'https://service.api.aisecurity.paloaltonetworks.com/v1/scan/sync/request',
      headers: {'x-pan-token': credentials.AIRS_API_KEY},
      body: {
        tr_id: context.trace.trace_id,
        ...(Object.keys(profile).length ? {ai_profile: profile} : {}),
        metadata: {
          ai_model: ai_model ?? context.model ?? 'unknown',
          app_user: app_user ?? 'gateway',
          app_name: app_name ?? 'gateway',
        },
        contents: [{[is_input ? 'prompt' : 'response']: text}],
      },
    }
  },
  read([reply], {is_input}) {
    const action = dig(reply, 'action')
    if (typeof action !== 'string') throw unknownForm('Prisma AIRS')
    const found = namesOf(dig(reply, is_input ? 'prompt_detected' : 'response_detected'))
    return {
      passes: action !== 'block',
      labels: [...found, ...(action === 'block' ? textsIn([dig(reply, 'category')]) : [])],
    }
  },
})
