/** How one kind of machine is made to trust an authority. */
export interface TrustStep {
  readonly system: string
  /** A command, or the way through the menus. */
  readonly how: string
}

/** The ways to trust the authority's certificate, once its file `ca.crt` is in the folder that one works in. */
export const TRUST_STEPS: readonly TrustStep[] = [
  {
    system: 'Debian, Ubuntu',
    how: 'sudo cp ca.crt /usr/local/share/ca-certificates/gateway-ca.crt && sudo update-ca-certificates',
  },
  {
    system: 'RHEL, Fedora',
    how: 'sudo cp ca.crt /etc/pki/ca-trust/source/anchors/gateway-ca.crt && sudo update-ca-trust',
  },
  {system: 'Windows, as administrator', how: 'certutil -addstore -f Root ca.crt'},
  {
    system: 'macOS',
    how: 'sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain ca.crt',
  },
  {system: 'Firefox', how: 'Settings, Privacy & Security, View Certificates, Authorities, Import'},
  {system: 'Chrome on Linux', how: 'certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n gateway-ca -i ca.crt'},
  {system: 'Node.js, gateway --url', how: 'NODE_EXTRA_CA_CERTS=ca.crt, set before the program starts'},
]

/** The steps as lines of two columns. */
export function trustLines(): string[] {
  const widest = Math.max(...TRUST_STEPS.map(({system}) => system.length))
  return TRUST_STEPS.map(({system, how}) => `  ${system.padEnd(widest)}  ${how}`)
}
