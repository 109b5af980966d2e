import type {Caller, KnownCaller} from '../../src/proxy/services.ts'

/** The caller behind a service key of its workspace that works without end and may call models. */
export function knownCaller(caller: Caller): KnownCaller {
  const {id, organisation_id, workspace_id, user_id} = caller
  return {
    access: {
      subject: {kind: 'api_key', id, key_kind: 'workspace-service', user_id},
      organisation_id,
      reach: {kind: 'workspace', workspace_id},
      scopes: new Set(['completions.write']),
      person: null,
    },
    expires_at: null,
    expires_at_ms: Infinity,
    workspace_archived: false,
    needs_sign_in: null,
    caller,
  }
}
