package io.tollgate.demo;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.web.embedded.tomcat.ConnectorStartFailedException;
import org.springframework.core.Ordered;

/** Says what to do about a taken port in the words of this demo. */
class PortTakenFailureAnalyzer extends AbstractFailureAnalyzer<ConnectorStartFailedException> implements Ordered {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, ConnectorStartFailedException cause) {
        return new FailureAnalysis(
                "The demo can't listen on port " + cause.getPort() + ": another program is using it, or it isn't permitted.",
                "Stop that program, or choose another port: make demo PORT=" + (cause.getPort() == 8081 ? 8082 : 8081),
                cause);
    }

    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }
}
