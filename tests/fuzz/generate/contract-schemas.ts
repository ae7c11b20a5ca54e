import 'reflect-metadata';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { targetConstructorToSchema, validationMetadatasToSchemas } from 'class-validator-jsonschema';
import { Envelope } from '#contracts/envelope';
import { EVENT_SHAPES } from '#contracts/events';
import type { Schemas } from './valid.js';

const OPTIONS = { classTransformerMetadataStorage: defaultMetadataStorage, refPointerPrefix: '#/components/schemas/' };

/** The contract classes of everything that is written, as JSON Schema: read from the decorators that check it. */
export function contractSchemas(): Schemas {
  const written = [...Object.values(EVENT_SHAPES), Envelope].map((shape) => [
    shape.name,
    // By itself, because a class that adds no field to its parent's is not in the list of all.
    targetConstructorToSchema(shape, OPTIONS),
  ]);
  return { ...validationMetadatasToSchemas(OPTIONS), ...Object.fromEntries(written) } as Schemas;
}
