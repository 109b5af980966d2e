import {awsManager} from './managers/aws/client.ts'
import {azureManager} from './managers/azure/client.ts'
import type {ReadSecret} from './managers/reading.ts'
import {vaultManager} from './managers/vault/client.ts'
import {FieldSecrets} from './mapped-secrets.ts'
import {type SecretCounts, SecretNotes} from './notes.ts'
import type {ReferenceTest} from './port.ts'
import {type TestedReference, testedReference} from './reference-test.ts'
import type {SecretServices} from './services.ts'
import {SecretValues} from './values.ts'

/** The secrets of managers, open: of one process. */
export interface OpenSecrets {
  readonly fields: FieldSecrets
  readonly values: SecretValues
  /** Fetches a reference's secret past what is held of it, and says what came of it. */
  test(reference: TestedReference): Promise<ReferenceTest>
}

export function openSecrets(
  services: SecretServices,
  counts: SecretCounts,
  steady: () => number = () => performance.now(),
): OpenSecrets {
  const managers = {
    aws_sm: awsManager(services),
    azure_kv: azureManager(services),
    hashicorp_vault: vaultManager(services),
  }
  const read: ReadSecret = place => managers[place.manager_type](place)
  const values = new SecretValues({services, read, notes: new SecretNotes(services, counts)})
  return {
    values,
    fields: new FieldSecrets(values),
    test: reference => testedReference(reference, {read, values, seal: services.seal, steady}),
  }
}
