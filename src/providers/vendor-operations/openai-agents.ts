import {delegates, flagged, free, type VendorOperation} from './operation.ts'

const form = {body: 'form'} as const
/** A stored agent names the model, or the request itself does. */
const stored = {models: ['any'], is_indirect: true} as const

/**
 * Operations of OpenAI's API beside models and their answers: agents, Live, safety, webhooks (openai-node, resources).
 */
export const openaiAgents: readonly VendorOperation[] = [
  ...free('openai.agents.create', 'POST', '/agents', {models: ['any']}),
  ...free('openai.agents.list', 'GET', '/agents'),
  ...free('openai.agents', 'GET DELETE', '/agents/{id}'),
  ...free('openai.agents.update', 'POST', '/agents/{id}', {models: ['any']}),
  ...free('openai.agents.automations.list', 'GET', '/agents/automations'),
  // It runs the agent by the clock, with no further call.
  flagged('openai.agents.automations.create', '/agents/automations', stored),
  ...free('openai.agents.automations', 'GET DELETE', '/agents/automations/{id}'),
  ...free('openai.agents.automations.update', 'POST', '/agents/automations/{id}', {models: ['any']}),
  ...free('openai.agents.automations.pause', 'POST', '/agents/automations/{id}/pause'),
  ...free('openai.agents.automations.resume', 'POST', '/agents/automations/{id}/resume'),
  flagged('openai.agents.automations.invocations.create', '/agents/automations/{id}/invocations', stored),
  ...free('openai.agents.automations.invocations.list', 'GET', '/agents/automations/{id}/invocations'),
  ...free('openai.agents.automations.invocations', 'GET', '/agents/automations/{id}/invocations/{id}'),
  flagged('openai.agents.environments.create', '/agents/environments'),
  ...free('openai.agents.environments.list', 'GET', '/agents/environments'),
  ...free('openai.agents.environments', 'GET', '/agents/environments/{id}'),
  ...free('openai.agents.environments.files', 'GET POST', '/agents/environments/{id}/files'),
  ...free('openai.agents.environments.templates.list', 'GET POST', '/agents/environments/templates'),
  ...free('openai.agents.environments.templates', 'GET POST DELETE', '/agents/environments/templates/{id}'),
  flagged('openai.agents.sessions.create', '/agents/sessions', {...stored, generates: true}),
  ...free('openai.agents.sessions.list', 'GET', '/agents/sessions'),
  ...free('openai.agents.sessions', 'GET DELETE', '/agents/sessions/{id}'),
  ...free('openai.agents.sessions.update', 'POST', '/agents/sessions/{id}', {models: ['any']}),
  flagged('openai.agents.sessions.events.create', '/agents/sessions/{id}/events', stored),
  ...free('openai.agents.sessions.events', 'GET', '/agents/sessions/{id}/events'),
  ...free('openai.agents.sessions.parts', 'GET', '/agents/sessions/{id}/{id}'),
  ...free('openai.agents.sessions.part', 'GET DELETE', '/agents/sessions/{id}/{id}/{id}'),
  ...free('openai.agents.sessions.part.items', 'GET', '/agents/sessions/{id}/{id}/{id}/*'),
  ...free('openai.vaults', 'GET POST', '/vaults'),
  ...free('openai.vaults.one', 'GET POST DELETE', '/vaults/{id}'),
  ...free('openai.vaults.credentials', 'GET POST', '/vaults/{id}/credentials'),
  ...free('openai.vaults.credential', 'GET POST DELETE', '/vaults/{id}/credentials/{id}'),

  // Sound goes between the client and OpenAI, past the gateway.
  delegates('openai.live.create', '/live/sessions'),
  delegates('openai.live.sessions.accept', '/live/sessions/{id}/accept'),
  delegates('openai.live.sessions.fork', '/live/sessions/{id}/fork', {is_indirect: true}),
  ...free('openai.live.sessions.content', 'GET', '/live/sessions/{id}/content'),
  ...free('openai.live.sessions.hangup', 'POST', '/live/sessions/{id}/hangup'),
  ...free('openai.live.sessions.refer', 'POST', '/live/sessions/{id}/refer'),
  ...free('openai.live.sessions.reject', 'POST', '/live/sessions/{id}/reject'),

  ...free('openai.audio.voices.create', 'POST', '/audio/voices', form),
  ...free('openai.audio.voices', 'DELETE', '/audio/voices/{id}'),
  ...free('openai.audio.voice_consents.create', 'POST', '/audio/voice_consents', form),
  ...free('openai.audio.voice_consents.list', 'GET', '/audio/voice_consents'),
  ...free('openai.audio.voice_consents', 'GET POST DELETE', '/audio/voice_consents/{id}'),
  ...free('openai.content_provenance_checks', 'POST', '/content_provenance_checks', form),
  ...free('openai.safety.cases', 'GET', '/safety/cases/{id}'),
  ...free('openai.safety.alerts', 'GET', '/safety/alerts/{id}'),
  ...free('openai.webhook_endpoints.list', 'GET POST', '/webhook_endpoints'),
  ...free('openai.webhook_endpoints', 'GET POST DELETE', '/webhook_endpoints/{id}'),
  ...free('openai.webhook_endpoints.rotate_secret', 'POST', '/webhook_endpoints/{id}/rotate_secret'),
  ...free('openai.webhook_endpoints.test', 'POST', '/webhook_endpoints/{id}/test'),
  ...free('openai.webhook_event_types', 'GET', '/webhook_event_types'),
]
