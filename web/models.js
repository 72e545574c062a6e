// The choice of the model that answers, where more than one is configured. It is
// the conversation's: opening one shows its model, and a choice is sent with the
// next question.

import { el, show } from "./dom.js";
import { modelLabel } from "./turn.js";

/** makeModels draws the choice into select. place is shown when there is one. */
export function makeModels({ place, select }) {
  let byDefault = "";

  return {
    /** offer draws the models that the gateway lists. */
    offer(models) {
      byDefault = models.find((model) => model.default)?.name ?? "";
      select.replaceChildren(...models.map((model) => el("option", { value: model.name }, described(model))));
      select.value = byDefault;
      show(place, models.length > 1);
    },
    /** select chooses a conversation's model, or the default where it has none. */
    select(name) {
      select.value = name || byDefault;
      if (select.selectedIndex < 0) select.value = byDefault; // it is no longer configured
    },
    /** chosen is the name to send; empty where there is no choice. */
    chosen: () => (place.hidden ? "" : select.value),
  };
}

function described({ name, price }) {
  if (!price) return modelLabel(name);
  return `${modelLabel(name)} · ${amount(price.input)} in, ${amount(price.output)} out ${price.currency} per million tokens`;
}

const amount = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 6 });
