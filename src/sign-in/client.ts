/** The facts of the browser, or of another client, that signs in. */
export interface SignInClient {
  readonly client_ip: string
  readonly user_agent: string | null
  readonly request_id: string
}
